// The smallest extension that starts `lsptools lsp`. The server's own commands (lsptools.undo, …) come with its capabilities.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function start() {
  const settings = vscode.workspace.getConfiguration("lsptools");
  const [command, ...args] = settings.get("command");
  client = new LanguageClient(
    "lsptools",
    "lsptools",
    { command, args },
    {
      documentSelector: [{ scheme: "file", language: "python" }],
      initializationOptions: {
        disable: settings.get("disable"),
        references: { possible: settings.get("references.possible") },
      },
    },
  );
  await client.start();
}

exports.activate = async (context) => {
  context.subscriptions.push(
    vscode.commands.registerCommand("lsptools.restart", async () => {
      await client?.stop();
      await start();
    }),
  );
  await start();
};

exports.deactivate = () => client?.stop();
