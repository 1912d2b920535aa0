import { execFile } from 'node:child_process'
import { appendFile, cp, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { CONSUMERS, tsconfig } from '../package/consumers.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

/** Built once; each test gets a copy that it may change. */
let original: Promise<string> | undefined
afterAll(async () => {
  if (original) await rm(await original, { recursive: true, force: true })
})

async function buildOriginal(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'mortise-build-'))
  for (const part of ['bin', 'src', 'web', 'scripts', 'package.json', 'package-lock.json', 'tsconfig.json'])
    await cp(join(ROOT, part), join(path, part), { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(path, 'node_modules'))
  await run(process.execPath, ['scripts/build.js'], { cwd: path })
  return path
}

/** A copy of the built project. */
async function builtProject() {
  const path = await mkdtemp(join(tmpdir(), 'mortise-built-'))
  // The build is identified by the timestamps of its sources, which Node would round.
  await run('cp', ['-a', `${await (original ??= buildOriginal())}/.`, path])
  return {
    path,
    node: async (...args: string[]) => (await run(process.execPath, args, { cwd: path })).stdout,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  }
}

test('the built program is started, until a source is another', async () => {
  await using copy = await builtProject()
  const version = await copy.node('bin/mortise.js', '--version')
  await appendFile(join(copy.path, 'dist/main.js'), "\nconsole.log('built')\n")
  expect(await copy.node('bin/mortise.js', '--version')).toBe(`${version}built\n`)
  await appendFile(join(copy.path, 'src/features/v4.ts'), '\n')
  expect(await copy.node('bin/mortise.js', '--version')).toBe(version)
})

test('a new migration, which no other source names, is a change too', async () => {
  await using copy = await builtProject()
  await appendFile(join(copy.path, 'dist/main.js'), "\nconsole.log('built')\n")
  expect(await copy.node('bin/mortise.js', '--version')).toContain('built')
  await writeFile(join(copy.path, 'src/store/migrations/2099-01-01-0900-new.ts'), 'export const up = () => {}')
  expect(await copy.node('bin/mortise.js', '--version')).not.toContain('built')
})

test('without sources, as it is published, only what was built is needed', async () => {
  await using copy = await builtProject()
  for (const part of ['src', 'web', 'scripts']) await rm(join(copy.path, part), { recursive: true })
  const library = `
    import { startForge } from './dist/forge.js'
    await using forge = await startForge()
    const { body } = await forge.administrator.get('/templates/licenses/mit')
    const page = await fetch(forge.url, { headers: { Accept: 'text/html' } })
    console.log(body.key, page.status, (await page.text()).includes('</html>'))`
  expect(await copy.node('--input-type=module', '--eval', library)).toBe('mit 200 true\n')
  expect(await copy.node('bin/mortise.js', '--version')).toMatch(/^\d/)
})

test('an instance begins with the ready schema, and without it by the migrations', async () => {
  await using copy = await builtProject()
  for (const part of ['src', 'web', 'scripts']) await rm(join(copy.path, part), { recursive: true })
  const migrate = (data: string) => copy.node('bin/mortise.js', 'migrate', '--create', '--data', join(copy.path, data))
  expect(await migrate('ready')).toBe('database is up to date\n')
  await rm(join(copy.path, 'dist/schema'), { recursive: true })
  const lines = (await migrate('migrated')).trim().split('\n')
  const built = (await readdir(join(copy.path, 'dist/migrations'))).filter((file) => file.endsWith('.js'))
  expect(lines).toEqual(built.map((file) => `applied ${file.slice(0, -3)}`))
  expect(await migrate('migrated')).toBe('database is up to date\n')
})

test('the installed package compiles against its types, strictly', async () => {
  await using copy = await builtProject()
  const consumer = join(copy.path, 'consumer')
  await mkdir(join(consumer, 'node_modules'), { recursive: true })
  await symlink(copy.path, join(consumer, 'node_modules/mortise'))
  await writeFile(join(consumer, 'tsconfig.json'), JSON.stringify(tsconfig(ROOT)))
  await writeFile(join(consumer, 'typed.mts'), CONSUMERS['typed.mts'])
  const compile = () => run(join(ROOT, 'node_modules/.bin/tsc'), { cwd: consumer })
  await expect(compile()).resolves.toMatchObject({ stdout: '' })

  await appendFile(join(consumer, 'typed.mts'), '\nconst wrong: number[] = await (await startForge()).events()')
  await expect(compile()).rejects.toMatchObject({ stdout: expect.stringContaining("'string[]'") })
})

test('nothing that is installed with it runs a script, such as to report that it was', async () => {
  const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; hasInstallScript?: boolean }>
  }
  const shipped = Object.entries(packages).filter(([, { dev }]) => !dev)
  const scripted = shipped.filter(([path, { hasInstallScript }]) => path !== '' && hasInstallScript)
  // Both compile a faster cipher if they can; `allowScripts` skips that.
  expect(scripted.map(([path]) => path)).toEqual(['node_modules/cpu-features', 'node_modules/ssh2'])
})
