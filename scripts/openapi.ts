/** Writes openapi.json from the declarations; with --check, fails if the committed file is not current. */
import { readFile, writeFile } from 'node:fs/promises'
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// Most of the time goes into loading the sources; unchanged ones are not compiled again.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/mortise', import.meta.url)))
const { openApiDocument } = await import('../src/api/openapi.ts')
const { families, webhooks } = await import('../src/features/v4.ts')
const { VERSION } = await import('../src/version.ts')

const file = new URL('../openapi.json', import.meta.url)
const current = `${JSON.stringify(openApiDocument(families, VERSION, await webhooks()), null, 2)}\n`

if (!process.argv.includes('--check')) {
  await writeFile(file, current)
  console.log('openapi.json written')
} else if ((await readFile(file, 'utf8').catch(() => '')) === current) {
  console.log('openapi.json is current')
} else {
  console.error('openapi.json is not current: run `npm run openapi` and commit it')
  process.exitCode = 1
}
