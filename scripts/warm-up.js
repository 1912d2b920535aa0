// Runs after an install: builds the program and compiles it into the cache that `bin/mortise.js` starts from, so that
// the first start is as quick as every other. Plain JavaScript, because an old Node must pass by it quietly.
import module from 'node:module'
import { fileURLToPath } from 'node:url'
import { build, PARTS } from './build.js'

const [major, minor] = process.versions.node.split('.').map(Number)

if (major > 22 || (major === 22 && minor >= 18)) {
  const isBuilt = await isDone(build)
  module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/mortise', import.meta.url)))
  for (const [name, source] of Object.entries(PARTS))
    if (name !== 'main') await import(isBuilt ? `../dist/${name}.js` : `../${source}`)
  module.flushCompileCache()
}

/** Without the tools of development, mortise starts from its sources. */
async function isDone(work) {
  try {
    await work()
    return true
  } catch (error) {
    if (error.code === 'ERR_MODULE_NOT_FOUND') return false
    throw error
  }
}
