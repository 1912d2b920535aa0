/**
 * The package for `require()`. Node loads the ES module itself. Jest cannot: its sandbox reads every file as CommonJS.
 * There the module is imported outside the sandbox, when the first forge starts.
 */
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')
const vm = require('node:vm')

try {
  module.exports = require('./forge.js')
} catch {
  const load = vm.runInThisContext('(url) => import(url)', {
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })
  const url = pathToFileURL(join(__dirname, 'forge.js')).href
  exports.startForge = async (options) => (await load(url)).startForge(options)
}
