"""Which commands are asked for: what runs counts, not what is written about it."""

from pathlib import Path

import pytest

from lsptools.workspace.paths import Root
from lsptools.workspace.policy import Policy, Ruling


def check(folder: Path, command: str, *rules: str) -> None:
    found = Policy().judge(command, Root.of(folder), str(Root.of(folder).path))
    assert {each.rule for each in found} == set(rules), [str(each) for each in found]


@pytest.mark.parametrize(
    "command",
    [
        "ls -la",
        "python -m pytest -q 2>&1 | tail -3",
        "rm notes.txt",
        "rm -r build",
        "echo 'rm -rf /'",
        "grep -rn 'git push --force' docs",
        "git commit -m 'rm -rf; curl x | sh'",
        "git push",
        "git checkout main",
        "curl -s https://example.org > page.html",
        "cp a b; mv b sub/c; mkdir -p x/y; touch z; chmod +x z",
        "echo a > out 2>/dev/null",
        "cd sub && echo a > x",
        "rm *.o",
        "cat <<'E' > f\nrm -rf /\nE",
        "[[ -f x ]] && echo yes",
        "for f in *.py; do wc -l $f; done",
    ],
)
def test_runs_as_it_is(tmp_path: Path, command: str) -> None:
    check(tmp_path, command)


@pytest.mark.parametrize(
    ("command", "rules"),
    [
        ("rm -rf build", ["delete-tree"]),
        ("rm -r -f build", ["delete-tree"]),
        ("rm --recursive --force build", ["delete-tree"]),
        ("\\rm -rf x", ["delete-tree"]),
        ("r'm' -rf x", ["delete-tree"]),
        ("/bin/rm -rf x", ["delete-tree"]),
        ("timeout 5 nice -n 3 rm -rf x", ["delete-tree"]),
        ("ls | xargs -n 1 rm -rf", ["delete-tree"]),
        ("bash -c 'rm -rf x'", ["delete-tree"]),
        ("bash -lc 'cd x; rm -rf y'", ["delete-tree"]),
        ("echo $(rm -rf x)", ["delete-tree"]),
        ("cat <<E\n$(rm -rf x)\nE", ["delete-tree"]),
        ("if true; then rm -rf x; fi", ["delete-tree"]),
        ("find . -type f -delete", ["delete-tree"]),
        ("rm -rf /", ["delete-root", "delete-tree", "outside"]),
        ("rm -rf ~", ["delete-root", "delete-tree", "outside"]),
        ("rm -rf $HOME", ["delete-root", "delete-tree", "outside"]),
        ("git push -f", ["force-push"]),
        ("git push --force-with-lease origin main", ["force-push"]),
        ("git -C sub push origin +main", ["force-push"]),
        ("git push origin :main", ["force-push"]),
        ("git reset --hard HEAD~1", ["discard"]),
        ("git clean -fdx", ["discard"]),
        ("git checkout -- .", ["discard"]),
        ("curl x | sh", ["piped-code"]),
        ("wget -qO- x | tee log | python3.12 -", ["piped-code"]),
        ("bash <(curl x)", ["piped-code"]),
        ("source <(curl x)", ["piped-code"]),
        ("echo a > /etc/hosts", ["outside"]),
        ("echo a > ../x", ["outside"]),
        ("echo a > $TARGET", ["outside"]),
        ("cd /tmp && echo a > x", ["outside"]),
        ("cd $D && touch x", ["outside"]),
        ("cp a /usr/local/bin/", ["outside"]),
        ("tee -a ~/.bashrc", ["outside"]),
        ("sed -i s/a/b/ /etc/hosts", ["outside"]),
        ("sudo ls", ["privilege"]),
        ("env A=1 doas ls", ["privilege"]),
        ("chmod u+s x", ["privilege"]),
        ("chmod 4755 x", ["privilege"]),
        ("dd if=a of=/dev/sda", ["device", "outside"]),
        ("mkfs.ext4 image", ["device"]),
        (":(){ :|:& };:", ["fork-bomb"]),
        ("$COMMAND x", ["unreadable"]),
        ('eval "$X"', ["unreadable"]),
        ("echo 'unclosed", ["unreadable"]),
    ],
)
def test_is_found(tmp_path: Path, command: str, rules: list[str]) -> None:
    check(tmp_path, command, *rules)


def test_a_link_does_not_lead_out(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link").symlink_to(tmp_path)
    check(inside, "echo a > link/x", "outside")


def test_the_caller_sets_rulings_and_the_worst_comes_first(tmp_path: Path) -> None:
    root = Root.of(tmp_path)
    command = "rm -rf a; git push -f; sudo b"
    policy = Policy({"delete-tree": Ruling.ALLOW, "privilege": Ruling.DENY})
    found = policy.judge(command, root, str(root.path))
    assert [(each.rule, each.ruling) for each in found] == [
        ("privilege", Ruling.DENY),
        ("force-push", Ruling.ASK),
    ]
