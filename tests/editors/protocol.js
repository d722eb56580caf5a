// Microsoft's own client libraries: vscode-languageserver-protocol for the wire, vscode-languageserver-textdocument for texts.
// It is strict where editors are lenient: overlapping edits, versions, what a closed document gets, the exit code.
// Arguments come as environment variables; answers are lines of JSON.
const { spawn } = require("child_process");
const fs = require("fs");
const path = require("path");
const { pathToFileURL, fileURLToPath } = require("url");
const protocol = require("vscode-languageserver-protocol/node");
const { TextDocument } = require("vscode-languageserver-textdocument");

const root = process.env.CASE_ROOT;
const uri = pathToFileURL(process.env.CASE_FILE).href;
const tell = (fact) => console.log(JSON.stringify(fact));

async function main() {
  const [command, ...args] = JSON.parse(process.env.CASE_COMMAND);
  const server = spawn(command, args, { cwd: root, stdio: ["pipe", "pipe", "inherit"] });
  const connection = protocol.createProtocolConnection(
    new protocol.StreamMessageReader(server.stdout),
    new protocol.StreamMessageWriter(server.stdin),
  );
  connection.onRequest(protocol.RegistrationRequest.type, () => {});
  connection.listen();
  const folder = { uri: pathToFileURL(root).href, name: "workspace" };
  const edits = { documentChanges: true, resourceOperations: ["create", "rename", "delete"] };
  const initialized = await connection.sendRequest(protocol.InitializeRequest.type, {
    processId: process.pid,
    rootUri: folder.uri,
    workspaceFolders: [folder],
    capabilities: {
      general: { positionEncodings: ["utf-16"] },
      workspace: { workspaceFolders: true, workspaceEdit: edits },
      textDocument: { rename: { prepareSupport: true } },
    },
  });
  tell({ encoding: initialized.capabilities.positionEncoding, version: process.version });
  await connection.sendNotification(protocol.InitializedNotification.type, {});

  const document = TextDocument.create(uri, "python", 1, fs.readFileSync(process.env.CASE_FILE, "utf8"));
  const textDocument = { uri };
  await connection.sendNotification(protocol.DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId: "python", version: 1, text: document.getText() },
  });
  const start = { line: 0, character: 0 };
  const change = { range: { start, end: start }, text: "# unsaved 😀 line\n" };
  TextDocument.update(document, [change], 2);
  await connection.sendNotification(protocol.DidChangeTextDocumentNotification.type, {
    textDocument: { uri, version: 2 },
    contentChanges: [change],
  });

  const position = document.positionAt(document.getText().indexOf(process.env.CASE_NEEDLE));
  const context = { includeDeclaration: true };
  const found = await connection.sendRequest(protocol.ReferencesRequest.type, { textDocument, position, context });
  tell({ references: found.length });
  const prepared = await connection.sendRequest(protocol.PrepareRenameRequest.type, { textDocument, position });
  if (prepared.placeholder !== process.env.CASE_NEEDLE) throw new Error(`prepareRename: ${JSON.stringify(prepared)}`);

  const edit = await connection.sendRequest(protocol.RenameRequest.type, { textDocument, position, newName: "renamed" });
  const before = new Map();
  for (const entry of edit.documentChanges) {
    const isOpen = entry.textDocument.uri === uri;
    if (entry.textDocument.version !== (isOpen ? 2 : null)) throw new Error(`version ${entry.textDocument.version}`);
    const file = fileURLToPath(entry.textDocument.uri);
    const text = isOpen ? document : TextDocument.create(entry.textDocument.uri, "python", 0, fs.readFileSync(file, "utf8"));
    before.set(file, text.getText());
    fs.writeFileSync(file, TextDocument.applyEdits(text, entry.edits));
  }
  tell({ saved: "renamed" });
  while (!fs.existsSync(path.join(root, "go-on"))) await new Promise((resolve) => setTimeout(resolve, 50));
  for (const [file, text] of before) fs.writeFileSync(file, text);
  tell({ saved: "undone" });

  await connection.sendRequest(protocol.ShutdownRequest.type);
  const ended = new Promise((resolve) => server.on("exit", resolve));
  await connection.sendNotification(protocol.ExitNotification.type);
  tell({ exit: await ended });
}

main().then(
  () => process.exit(0),
  (problem) => {
    tell({ failed: String(problem) });
    process.exit(1);
  },
);
