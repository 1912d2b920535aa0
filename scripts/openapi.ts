/** Writes openapi.json from the declarations, or with --check fails when the committed one is not current. */
import { readFile, writeFile } from 'node:fs/promises'
import { openApiDocument } from '../src/api/openapi.ts'
import { families } from '../src/features/v4.ts'
import { VERSION } from '../src/version.ts'

const file = new URL('../openapi.json', import.meta.url)
const current = `${JSON.stringify(openApiDocument(families, VERSION), null, 2)}\n`

if (!process.argv.includes('--check')) {
  await writeFile(file, current)
  console.log('openapi.json written')
} else if ((await readFile(file, 'utf8').catch(() => '')) === current) {
  console.log('openapi.json is current')
} else {
  console.error('openapi.json is not current: run `npm run openapi` and commit it')
  process.exitCode = 1
}
