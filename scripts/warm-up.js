// Runs after an install: compiles the program into the cache that `bin/mortise.js` starts from, so that the first start
// is as quick as every other. Plain JavaScript, because an old Node must pass by it quietly.
import module from 'node:module'
import { fileURLToPath } from 'node:url'

const [major, minor] = process.versions.node.split('.').map(Number)

if (major > 22 || (major === 22 && minor >= 18)) {
  module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/mortise', import.meta.url)))
  for (const part of ['cli/run.ts', 'cli/serve.ts', 'app.ts', 'store/sqlite.ts']) await import(`../src/${part}`)
  module.flushCompileCache()
}
