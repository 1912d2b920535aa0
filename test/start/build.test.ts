import { execFile } from 'node:child_process'
import { appendFile, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { CONSUMERS, tsconfig } from '../package/consumers.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

/** A copy of the project that may be built and changed. */
async function project() {
  const path = await mkdtemp(join(tmpdir(), 'mortise-build-'))
  for (const part of ['bin', 'src', 'scripts', 'package.json', 'package-lock.json'])
    await cp(join(ROOT, part), join(path, part), { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(path, 'node_modules'))
  return {
    path,
    node: async (...args: string[]) => (await run(process.execPath, args, { cwd: path })).stdout,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  }
}

test('the built program is started, until a source is another', async () => {
  await using copy = await project()
  const version = await copy.node('bin/mortise.js', '--version')
  await copy.node('scripts/build.js')
  await appendFile(join(copy.path, 'dist/main.js'), "\nconsole.log('built')\n")
  expect(await copy.node('bin/mortise.js', '--version')).toBe(`${version}built\n`)
  await appendFile(join(copy.path, 'src/features/v4.ts'), '\n')
  expect(await copy.node('bin/mortise.js', '--version')).toBe(version)
})

test('a new migration, which no other source names, is a change too', async () => {
  await using copy = await project()
  await copy.node('scripts/build.js')
  await appendFile(join(copy.path, 'dist/main.js'), "\nconsole.log('built')\n")
  expect(await copy.node('bin/mortise.js', '--version')).toContain('built')
  await writeFile(join(copy.path, 'src/store/migrations/2099-01-01-0900-new.ts'), 'export const up = () => {}')
  expect(await copy.node('bin/mortise.js', '--version')).not.toContain('built')
})

test('without sources, as it is published, only what was built is needed', async () => {
  await using copy = await project()
  await copy.node('scripts/build.js')
  await rm(join(copy.path, 'src'), { recursive: true })
  const library = `
    import { startForge } from './dist/forge.js'
    await using forge = await startForge()
    const { body } = await forge.administrator.get('/templates/licenses/mit')
    console.log(body.key)`
  expect(await copy.node('--input-type=module', '--eval', library)).toBe('mit\n')
  expect(await copy.node('bin/mortise.js', '--version')).toMatch(/^\d/)
})

test('whoever installs it compiles against its types, strictly', async () => {
  await using copy = await project()
  await copy.node('scripts/build.js')
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
  // Both build a quicker cipher if they can; `allowScripts` does without.
  expect(scripted.map(([path]) => path)).toEqual(['node_modules/cpu-features', 'node_modules/ssh2'])
})
