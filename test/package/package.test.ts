import { execFile } from 'node:child_process'
import { access, cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { VERSION } from '../../src/version.ts'
import { CONSUMERS, PRINTED, tsconfig } from './consumers.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

/**
 * The oldest supported release of each line, and the newest lines; the ones that packages support on every platform.
 */
const VERSIONS = ['22.14.0', '23.6.0', '24.20.0', '26.10.0']
const TOO_OLD = ['20.20.2', '22.13.1']

/** The parts of the project that packing needs. */
const PARTS = 'bin src web docs scripts runtime package.json package-lock.json tsconfig.json LICENSE README.md'.split(
  ' ',
)

let folder: string
const consumer = () => join(folder, 'consumer')
const nodeOf = (version: string) => join(folder, 'nodes', 'node_modules', version, 'bin', 'node')

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mortise-package-'))
  const project = join(folder, 'project')
  // Packing runs a build, which would break a server that runs from this folder.
  for (const part of PARTS) await cp(join(ROOT, part), join(project, part), { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(project, 'node_modules'))
  await run('npm', ['pack', '--pack-destination', folder], { cwd: project })

  const platform = process.platform === 'win32' ? 'win' : process.platform
  const nodes = [...VERSIONS, ...TOO_OLD].map((v) => `${v}@npm:node-${platform}-${process.arch}@${v}`)
  await install('nodes', nodes)
  await install('consumer', [join(folder, `mortise-${VERSION}.tgz`), 'jest@30'])
  for (const [name, source] of Object.entries(CONSUMERS)) await writeFile(join(consumer(), name), source)
  await writeFile(join(consumer(), 'tsconfig.json'), JSON.stringify(tsconfig(ROOT)))
  await run(join(ROOT, 'node_modules/.bin/tsc'), [], { cwd: consumer() }).catch((error: { stdout: string }) => {
    throw new Error(error.stdout)
  })
})

afterAll(() => rm(folder, { recursive: true, force: true }))

async function install(name: string, what: string[]): Promise<void> {
  await cp(join(ROOT, '.npmrc'), join(folder, name, '.npmrc'))
  await writeFile(join(folder, name, 'package.json'), '{ "private": true, "scripts": { "which": "node -v" } }')
  await run('npm', ['install', ...what], { cwd: join(folder, name) })
}

/** In an environment with only that Node. */
async function on(version: string, ...words: [string, ...string[]]) {
  const env = { PATH: [dirname(nodeOf(version)), '/usr/bin', '/bin'].join(delimiter), HOME: folder }
  const [program, ...args] = words
  const result = await run(program, args, { cwd: consumer(), env }).catch((error: object) => error)
  const { stdout, stderr, code = 0 } = result as { stdout: string; stderr: string; code?: number }
  return { code, stdout: stdout.trim(), stderr: stderr.trim() }
}

const printed = (stdout: string) => ({ code: 0, stdout, stderr: '' })

describe.each(VERSIONS)('on Node %s', (version) => {
  test.each(['esm.mjs', 'commonjs.cjs', 'out/typed.mjs', 'out/typed-commonjs.cjs'])('%s', async (file) => {
    expect(await on(version, 'node', file)).toEqual(printed(PRINTED))
  })

  test('the command', async () => {
    expect(await on(version, join(consumer(), 'node_modules/.bin/mortise'), '--version')).toEqual(printed(VERSION))
  })
})

test('Jest requires it from CommonJS', async () => {
  const { code, stdout, stderr } = await on(
    '24.20.0',
    'node',
    'node_modules/jest/bin/jest.js',
    '--testMatch=**/*.test.cjs',
    '--testTimeout=60000',
  )
  expect({ code, stdout, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('1 passed') })
  expect(stdout).toContain(PRINTED)
})

test('pages and documentation are part of the package', async () => {
  const answered = await on('22.14.0', 'node', 'page.mjs')
  expect(answered).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^200 <!doctype html>.*<form.*\n200 true$/is),
    stderr: '',
  })
})

test.each(TOO_OLD)('Node %s is told what is needed', async (version) => {
  const needed = `mortise needs Node 22.14 or newer; this is v${version}`
  const command = await on(version, join(consumer(), 'node_modules/.bin/mortise'), '--version')
  expect(command).toEqual({ code: 1, stdout: '', stderr: needed })
  const library = await on(version, 'node', 'esm.mjs')
  expect(library).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(needed) })
})

test('scripts of the installing project run on their own Node', async () => {
  await expect(access(join(consumer(), 'node_modules/.bin/node'))).rejects.toThrow('ENOENT')
  expect(await on('22.14.0', 'npm', 'run', '--silent', 'which')).toMatchObject({ code: 0, stdout: 'v22.14.0' })
})
