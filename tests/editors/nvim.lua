-- Neovim, headless, as a client: an unsaved line, references, a rename over files, saved; then undone, and saved again.
-- Works with 0.7 and with 0.11. Arguments come as environment variables; answers are lines of JSON.
local root, file, needle = os.getenv("CASE_ROOT"), os.getenv("CASE_FILE"), os.getenv("CASE_NEEDLE")
local config = { name = "lsptools", cmd = vim.fn.json_decode(os.getenv("CASE_COMMAND")), root_dir = root,
                 workspace_folders = { { uri = vim.uri_from_fname(root), name = "workspace" } } }
local function tell(fact) io.stdout:write(vim.fn.json_encode(fact) .. "\n") io.stdout:flush() end
local function fail(why) tell({ failed = why }) vim.cmd("cquit") end

vim.o.hidden = true
vim.o.fixendofline = false
vim.o.fileformats = "unix,dos"
vim.cmd("edit " .. vim.fn.fnameescape(file))
vim.bo.filetype = "python"
local id
if vim.lsp.start then
  id = vim.lsp.start(config)
else
  id = vim.lsp.start_client(config)
  vim.lsp.buf_attach_client(0, id)
end
local function client() return vim.lsp.get_client_by_id(id) end
if not vim.wait(30000, function() return client() ~= nil and client().server_capabilities ~= nil and client().initialized end, 50) then
  fail("no initialize")
end
tell({ encoding = client().offset_encoding, version = tostring(vim.version().minor) })

vim.api.nvim_buf_set_lines(0, 0, 0, false, { "# unsaved 😀 line" })
vim.wait(300)
for row, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
  local at = line:find(needle, 1, true)
  if at then vim.api.nvim_win_set_cursor(0, { row, at - 1 }) break end
end

local params = vim.lsp.util.make_position_params(0, client().offset_encoding)
params.context = { includeDeclaration = true }
local answer = vim.lsp.buf_request_sync(0, "textDocument/references", params, 20000)
tell({ references = #((answer or {})[id] or { result = {} }).result })

vim.o.undolevels = vim.o.undolevels -- what follows is undone by itself
local before = vim.api.nvim_buf_get_changedtick(0)
vim.lsp.buf.rename("renamed", {})
if not vim.wait(20000, function() return vim.api.nvim_buf_get_changedtick(0) ~= before end, 50) then
  fail("no rename: " .. vim.fn.execute("messages"))
end
vim.wait(500)
vim.cmd("silent! wall")
tell({ saved = "renamed" })
if not vim.wait(20000, function() return vim.fn.filereadable(root .. "/go-on") == 1 end, 50) then fail("nobody looked") end

for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
  if vim.api.nvim_buf_is_loaded(buffer) and vim.api.nvim_buf_get_name(buffer) ~= "" then
    vim.api.nvim_buf_call(buffer, function() vim.cmd("silent undo") end)
  end
end
vim.cmd("silent! wall")
tell({ saved = "undone" })
pcall(function() vim.lsp.stop_client(id) end)
vim.wait(3000, function() return client() == nil end, 50)
vim.cmd("qa!")
