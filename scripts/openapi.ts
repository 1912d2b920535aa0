/** Writes `openapi/` from the declarations; with --check, fails if a committed file is not current. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { FOLDER, committedFiles, split } from './openapi-chapters.ts'

// Most of the time goes into loading the sources; unchanged ones are not compiled again.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/mortise', import.meta.url)))
const { openApiDocument } = await import('../src/api/openapi.ts')
const { families, webhooks } = await import('../src/features/v4.ts')
const { VERSION } = await import('../src/version.ts')

const current = split(openApiDocument(families, VERSION, await webhooks()))
const outdated: string[] = []
for (const name of new Set([...current.keys(), ...committedFiles()])) {
  const committed = await readFile(join(FOLDER, name), 'utf8').catch(() => undefined)
  if (committed !== current.get(name)) outdated.push(name)
}

if (outdated.length === 0) console.log('openapi/ is current')
else if (process.argv.includes('--check')) {
  console.error(`openapi/ is not current: run \`npm run openapi\` and commit it\n  ${outdated.join('\n  ')}`)
  process.exitCode = 1
} else {
  await mkdir(join(FOLDER, 'chapters'), { recursive: true })
  for (const name of outdated) {
    const text = current.get(name)
    await (text === undefined ? rm(join(FOLDER, name)) : writeFile(join(FOLDER, name), text))
  }
  console.log(`openapi/ written: ${outdated.length} files`)
}
