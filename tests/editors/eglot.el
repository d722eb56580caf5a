;;; eglot.el --- Emacs and eglot, in batch mode, as a client  -*- lexical-binding: t; coding: utf-8 -*-
;; An unsaved line, a rename over files, saved; then undone, and saved again. Arguments come as environment variables;
;; answers are lines of JSON.
(require 'json)
(set-language-environment "UTF-8")
(prefer-coding-system 'utf-8-unix)
(unless (require 'eglot nil t)
  (dolist (folder (file-expand-wildcards "/usr/share/emacs/site-lisp/elpa-src/*"))
    (add-to-list 'load-path folder))
  (require 'eglot))
(defun tell (&rest fact)
  (princ (concat (json-encode fact) "\n"))
  (set-binary-mode 'stdout t)) ; its side effect: what was printed is written
(defun save-files ()
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer
      (when (and buffer-file-name (buffer-modified-p)) (save-buffer)))))
(let* ((command (append (json-read-from-string (getenv "CASE_COMMAND")) nil))
       (root (file-name-as-directory (getenv "CASE_ROOT")))
       (inhibit-message t))
  (setq eglot-sync-connect 30 eglot-connect-timeout 30 eglot-autoshutdown nil
        eglot-confirm-server-initiated-edits nil
        make-backup-files nil create-lockfiles nil auto-save-default nil
        project-find-functions (list (lambda (_folder) (cons 'transient root))))
  (find-file (getenv "CASE_FILE"))
  (unless (eq major-mode 'python-mode) (python-mode))
  (buffer-enable-undo)
  (setq require-final-newline nil mode-require-final-newline nil)
  (apply #'eglot (list '(python-mode) (cons 'transient root) 'eglot-lsp-server command "python"))
  (let ((server (eglot-current-server)))
    (unless server (tell :failed "no server") (kill-emacs 1))
    (tell :encoding (or (plist-get (eglot--capabilities server) :positionEncoding) "utf-16") :version emacs-version)
    (goto-char (point-min))
    (insert "# unsaved 😀 line\n")
    (eglot--signal-textDocument/didChange)
    (goto-char (point-min))
    (search-forward (getenv "CASE_NEEDLE"))
    (goto-char (match-beginning 0))
    (let ((found (jsonrpc-request server :textDocument/references
                                  (append (eglot--TextDocumentPositionParams)
                                          (list :context (list :includeDeclaration t))))))
      (tell :references (length found)))
    (undo-boundary)
    (condition-case problem
        (cl-letf (((symbol-function 'y-or-n-p) (lambda (&rest _) t))) (eglot-rename "renamed"))
      (error (tell :failed (error-message-string problem)) (kill-emacs 1)))
    (save-files)
    (tell :saved "renamed")
    (while (not (file-exists-p (concat root "go-on"))) (sleep-for 0.05))
    (dolist (buffer (buffer-list))
      (with-current-buffer buffer
        (when (and buffer-file-name (listp buffer-undo-list))
          (setq last-command nil)
          (primitive-undo 1 (let ((list buffer-undo-list)) (while (and list (null (car list))) (setq list (cdr list))) list)))))
    (save-files)
    (tell :saved "undone")
    (ignore-errors (eglot-shutdown server nil 5))))
