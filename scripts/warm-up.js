// Runs after an install: builds the program and compiles it into the cache that `bin/mortise.js` starts from, so that
// the first start is as quick as every other. Plain JavaScript, because an old Node must pass by it quietly.
import module from 'node:module'
import { fileURLToPath } from 'node:url'
import { build, PARTS } from './build.js'

const [major] = process.versions.node.split('.').map(Number)

if (major >= 22) {
  const isBuilt = await isDone(build)
  module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/mortise', import.meta.url)))
  // Both as `bin/mortise.js` has it: what was built runs wherever Node-API 10 is, the sources on Node 24.
  if (isBuilt ? Number(process.versions.napi) >= 10 : major >= 24)
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
