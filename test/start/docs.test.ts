/**
 * Runs the commands of README and docs, page by page, against one started server. A block that cannot run here is
 * marked: ```sh norun=REASON.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { settings, variableOf } from '../../src/config.ts'
import { Child, temporaryFolder, until, type Folder } from './command.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')

const REASONS: Readonly<Record<string, string>> = {
  registry: 'fetches packages; .ci/run runs these commands, and test/package those of the packed package',
  server: 'starts the server that this test has started',
  endless: 'runs until it is stopped; test/start/runner.test.ts and src/features/integrations/live cover it',
  systemd: 'needs root and systemd',
  stopped: 'needs a stopped server; test/upgrade runs it',
  postgresql: 'changes the configuration of a PostgreSQL server',
}

const inFolder = (folder: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join(folder, file))
    .sort()

const DOCS = inFolder('docs')
const PAGES = ['README.md', ...DOCS]

interface Block {
  readonly info: string
  readonly text: string
}

function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/^( *)```([^`\n]+)\n([\s\S]*?)^ *```$/gm)].map(
    ([, indent = '', info = '', text = '']) => ({
      info,
      text: text.replace(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  )
}

const isShell = ({ info }: Block) => /^(sh|bash|shell|console)\b/.test(info)

/** In the order of the table of contents: later pages use results of earlier ones. */
const LINKED = [...read('docs/README.md').matchAll(/\]\(([\w/.-]+\.md)/g)].map(([, file]) => `docs/${file}`)
const TYPED = ['README.md', ...LINKED].filter((page) => blocksOf(read(page)).some(({ info }) => info === 'sh'))

test('a block of commands runs, or names a known reason why not', () => {
  const infos = PAGES.flatMap((page) => blocksOf(read(page)).filter(isShell))
  const reasons = infos
    .filter(({ info }) => info !== 'sh')
    .map(({ info }) => /^sh norun=(\w+)$/.exec(info)?.[1] ?? info)
  expect(reasons.filter((reason) => !(reason in REASONS))).toEqual([])
  expect([...new Set(reasons)].sort()).toEqual(Object.keys(REASONS).sort())
})

test('the table of contents names every page once', () => {
  expect(LINKED.toSorted()).toEqual(DOCS.filter((page) => page !== 'docs/README.md'))
})

/** Anchors as `/help` and most forges name them. */
const anchorsOf = (markdown: string) =>
  [...markdown.replace(/^ *```[\s\S]*?^ *```$/gm, '').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

test.each([...PAGES, 'CONTRIBUTING.md', 'CHANGELOG.md'])('links of %s lead somewhere', (page) => {
  const links = [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, href]) => href!)
  const broken = links.filter((href) => {
    if (/^(https?:|mailto:)/.test(href)) return false
    const [path, anchor] = href.split('#') as [string, string?]
    const target = path === '' ? page : join(dirname(page), path)
    if (!existsSync(join(ROOT, target))) return true
    return anchor !== undefined && !anchorsOf(read(target)).includes(anchor)
  })
  expect(broken).toEqual([])
})

const contexts = readdirSync(join(ROOT, 'src/features'), { withFileTypes: true }).filter((file) => file.isDirectory())

test.each(contexts.map(({ name }) => name))('the page on %s names its families', (context) => {
  const [table = ''] = /^\| Family[\s\S]*?\n\n/m.exec(read(`docs/contexts/${context}.md`)) ?? []
  const named = table.split('\n').flatMap((row) => [...(row.split('|')[1]?.matchAll(/`([\w-]+)`/g) ?? [])])
  const folders = readdirSync(join(ROOT, 'src/features', context), { withFileTypes: true })
  expect(named.map(([, name]) => name!).sort()).toEqual(
    folders.flatMap((folder) => (folder.isDirectory() ? folder.name : [])).sort(),
  )
})

test('every setting of the command is explained', () => {
  const page = read('docs/configuration.md')
  expect(
    Object.keys(settings)
      .map(variableOf)
      .filter((name) => !page.includes(`\`${name}\``)),
  ).toEqual([])
})

describe('commands', () => {
  const PASSWORD = 'the-printed-password'
  const TOKEN = 'a-root-token-of-tests'
  const receiver = createServer((request, response) => request.resume().on('end', () => response.end()))
  let folder: Folder
  let server: Child
  let url: string
  let ssh: string

  beforeAll(async () => {
    folder = await temporaryFolder()
    await mkdir(join(folder.path, 'home'))
    await symlink(join(ROOT, 'bin'), join(folder.path, 'bin'))
    receiver.listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    server = new Child(['serve', '--runner', 'shell'], {
      MORTISE_DATA: join(folder.path, 'data'),
      MORTISE_PORT: '0',
      MORTISE_SSH_PORT: '0',
      MORTISE_ROOT_PASSWORD: PASSWORD,
      MORTISE_ROOT_TOKEN: TOKEN,
    })
    url = await server.url()
    await until(() => server.stdout.includes('(RSA)'))
    await api('PUT', '/application/settings?allow_local_requests_from_web_hooks_and_services=true')
    const made = (await (await api('POST', '/projects?name=port')).json()) as { ssh_url_to_repo: string }
    ssh = new URL(made.ssh_url_to_repo).host
  })

  afterAll(async () => {
    receiver.close()
    await server[Symbol.asyncDispose]()
    await folder[Symbol.asyncDispose]()
  })

  const api = (method: string, path: string) =>
    fetch(`${url}/api/v4${path}`, { method, headers: { 'PRIVATE-TOKEN': TOKEN } })

  /** Replaces the URLs and the password of the text by those of the test. */
  const adapted = (text: string) =>
    text
      .replaceAll('127.0.0.1:8080', new URL(url).host)
      .replaceAll('127.0.0.1:2222', ssh)
      .replaceAll('THE_PRINTED_PASSWORD', PASSWORD)
      .replaceAll('https://ci.example.com', `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`)

  async function type(script: string): Promise<{ code: number; output: string }> {
    const home = join(folder.path, 'home')
    const key = join(home, '.ssh', 'id_ed25519')
    const env = {
      HOME: home,
      PATH: [dirname(process.execPath), join(home, '.local/bin'), process.env.PATH].join(':'),
      TOKEN,
      GIT_AUTHOR_NAME: 'Reader',
      GIT_AUTHOR_EMAIL: 'reader@example.com',
      GIT_COMMITTER_NAME: 'Reader',
      GIT_COMMITTER_EMAIL: 'reader@example.com',
      // ssh looks for its files in the home folder of the account.
      GIT_SSH_COMMAND: `ssh -F none -i ${key} -o StrictHostKeyChecking=no -o UserKnownHostsFile=${key}.hosts`,
    }
    // A rejected request is an error of the page.
    const strict = 'set -euo pipefail\ncurl() { command curl --show-error --fail-with-body "$@"; }\n'
    const shell = spawn('bash', ['-c', strict + script], { cwd: folder.path, env })
    let output = ''
    for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (chunk) => (output += chunk))
    const [code] = (await once(shell, 'close')) as [number]
    return { code, output }
  }

  test.each(TYPED)('%s', { timeout: 180_000 }, async (page) => {
    const script = blocksOf(read(page))
      .filter(({ info }) => info === 'sh')
      .map(({ text }) => text)
      .join('\n')
    const { code, output } = await type(adapted(script))
    expect(code, `${relative(ROOT, page)}: ${output}`).toBe(0)
  })

  test('the pipelines of the first steps succeed', async () => {
    for (const project of ['root%2Fhello', 'engines%2Fanalytical'])
      await until(async () => {
        const pipelines = (await (await api('GET', `/projects/${project}/pipelines`)).json()) as { status: string }[]
        expect(pipelines.map(({ status }) => status)).not.toContain('failed')
        return pipelines.length > 0 && pipelines.every(({ status }) => status === 'success')
      })
  })
})
