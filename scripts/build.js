// Makes `dist`: the program in a few files instead of a thousand, which halves the time it takes to start. What it was
// made from is noted beside it; `bin/mortise.js` starts from the sources as soon as one of them is another.
import { readdirSync } from 'node:fs'
import { cp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'

import { buildWeb } from './build-web.js'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Libraries of hundreds of small files; the others are left where they are. */
const TAKEN_IN = ['kysely', 'zod']

const MIGRATIONS = 'src/store/migrations'
const migrations = ['', 'before-baseline/'].flatMap((folder) =>
  readdirSync(`${root}/${MIGRATIONS}/${folder}`).flatMap((file) => (/^[^.]+\.ts$/.test(file) ? folder + file : [])),
)

/** `main` is started and `forge` imported; the others `main` loads later, and have names so that a cache can be warmed. */
export const PARTS = {
  main: 'src/main.ts',
  forge: 'src/forge.ts',
  run: 'src/cli/run.ts',
  serve: 'src/cli/serve.ts',
  app: 'src/app.ts',
  sqlite: 'src/store/sqlite.ts',
  'ready-schema': 'src/store/ready-schema.ts',
  'launcher-process': 'src/git/process/launcher-process.ts',
  'pattern-search': 'src/lib/text/pattern-search.ts',
  'rendering-thread': 'src/lib/threads/thread.ts',
  'markdown-tasks': 'src/lib/markdown/tasks.ts',
  'ci-report': 'src/ci/config/report.ts',
  'junit-report': 'src/features/ci/pipelines/reports/reading.ts',
  ...Object.fromEntries(migrations.map((file) => [`migrations/${file.slice(0, -3)}`, `${MIGRATIONS}/${file}`])),
}

export async function build() {
  const { rolldown } = await import('rolldown')
  const { dependencies, engines } = JSON.parse(await readFile(`${root}/package.json`, 'utf8'))
  const left = Object.keys(dependencies).filter((name) => !TAKEN_IN.includes(name))
  await rm(`${root}/dist`, { recursive: true, force: true })
  await buildWeb()
  const bundle = await rolldown({
    cwd: root,
    input: PARTS,
    platform: 'node',
    // The sources are written for Node 24, what is published runs on the oldest that it declares.
    transform: { target: `node${/\d+\.\d+/.exec(engines.node)[0]}` },
    external: (id) => left.some((name) => id === name || id.startsWith(`${name}/`)),
  })
  const { output } = await bundle.write({ dir: 'dist', format: 'esm', chunkFileNames: 'part-[hash].js' })
  await bundle.close()
  await cp(`${root}/src/features/instance/templates/contents`, `${root}/dist/contents`, { recursive: true })
  // Made of types alone, it is its own declaration.
  await cp(`${root}/src/forge/types.ts`, `${root}/dist/forge.d.ts`)
  await cp(`${root}/src/forge/commonjs.cjs`, `${root}/dist/forge.cjs`)
  // SQLite's binding ends the process where Node-API is older; a first start then runs the migrations.
  if (Number(process.versions.napi) >= 10) {
    const { writeSchemas } = await import('../dist/ready-schema.js')
    await writeSchemas(`${root}/dist/schema`)
  }
  await writeFile(`${root}/dist/sources.json`, JSON.stringify(await sourcesOf(output)))
}

/**
 * Each source with the time it was changed. A new one is read only when another is changed to name it; a migration is
 * named by its folder.
 */
async function sourcesOf(output) {
  const ids = output.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []))
  const files = ids.map((id) => relative(root, id)).filter((file) => file.startsWith('src'))
  const times = [...files, MIGRATIONS, 'package-lock.json'].map(async (file) => [
    file,
    (await stat(`${root}/${file}`)).mtimeMs,
  ])
  return Object.fromEntries(await Promise.all(times))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build()
