import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, readdirSync } from 'node:fs'
import { connect } from 'node:net'
import ssh2 from 'ssh2'
import { describe, expect, test } from 'vitest'
import { fillProject } from '../test/contents.ts'
import { addKey, newKey, sshPortOf, startSshForge } from '../test/ssh.ts'
import { startForge, type TestForge } from './forge.ts'

/** More than all buffers on the way can take. */
const LARGE = randomBytes(16 * 1024 * 1024)
const PATIENCE = 300

const pkt = (line: string) => `${(line.length + 4).toString(16).padStart(4, '0')}${line}`

async function filled(forge: TestForge) {
  const project = await forge.project({ visibility: 'public' })
  const dir = await fillProject(forge, project.id, { files: { large: LARGE } })
  const { body } = await forge.visitor.get(`/projects/${project.id}/repository/commits`)
  return { project, dir, ask: `${pkt(`want ${body[0].id} no-progress\n`)}0000${pkt('done\n')}` }
}

/** Git processes that still run for a repository. */
const gitsAt = (dir: string) =>
  readdirSync('/proc').filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`GIT_DIR=${dir}\0`)
    } catch {
      return false
    }
  })

/** Sends a request and reads only the beginning of the answer. */
async function readSlowly({ url }: TestForge, request: string) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).on('error', () => {})
  socket.write(request)
  const [start] = (await once(socket, 'data')) as [Buffer]
  socket.pause()
  expect(start.toString('latin1')).toMatch(/^HTTP\/1.1 200 /)
  return socket
}

/** The same, by a clone over SSH. */
async function cloneSlowly(forge: TestForge, path: string, ask: string) {
  const key = await newKey()
  await addKey(forge.administrator, key)
  const client = new ssh2.Client()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  client.on('error', reject).on('ready', () =>
    client.exec(`git-upload-pack '${path}.git'`, (error, channel) => {
      if (error) return reject(error)
      channel.once('data', () => {
        channel.write(ask)
        channel.once('data', () => resolve(void channel.pause()))
      })
    }),
  )
  client.connect({ host: '127.0.0.1', port: sshPortOf(forge), username: 'git', privateKey: key.private })
  await promise
  return client
}

/** Longer than a test may take: a test that waits for it fails. */
const PAST_THE_TEST = 600_000

async function closingTime(forge: TestForge): Promise<number> {
  const started = performance.now()
  await forge[Symbol.asyncDispose]()
  return performance.now() - started
}

describe('closing', () => {
  test('waits for who reads slowly, but not for long', async () => {
    const forge = await startSshForge({ patience: PATIENCE })
    const { project, dir, ask } = await filled(forge)
    const { id, path_with_namespace: path } = project
    const post = `POST /${path}.git/git-upload-pack HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-git-upload-pack-request\r\nContent-Length: ${ask.length}\r\n\r\n${ask}`
    const get = (tail: string) => `GET /api/v4/projects/${id}/repository/${tail} HTTP/1.1\r\nHost: x\r\n\r\n`
    const readers = [
      await readSlowly(forge, get('archive.tar')),
      await readSlowly(forge, get('files/large/raw')),
      await readSlowly(forge, post),
      await cloneSlowly(forge, path, ask),
    ]
    expect(gitsAt(dir).length).toBeGreaterThanOrEqual(readers.length)
    const took = await closingTime(forge)
    expect(took).toBeGreaterThan(PATIENCE - 50)
    await expect.poll(() => gitsAt(dir)).toEqual([])
    for (const reader of readers) reader.destroy()
  })

  test('does not wait for who has said nothing, or nothing more', async () => {
    const forge = await startForge({ patience: PAST_THE_TEST })
    const { hostname, port } = new URL(forge.url)
    const silent = connect(Number(port), hostname)
    await once(silent, 'connect')
    const kept = connect(Number(port), hostname)
    kept.write('GET /api/v4/version HTTP/1.1\r\nHost: x\r\n\r\n')
    await once(kept, 'data')
    await forge[Symbol.asyncDispose]()
    await expect(fetch(forge.url)).rejects.toThrow('fetch failed')
    for (const socket of [silent, kept]) socket.destroy()
  })

  test('serves who reads on to the end', async () => {
    const forge = await startForge({ patience: PAST_THE_TEST })
    const { project } = await filled(forge)
    const answer = await fetch(`${forge.url}/api/v4/projects/${project.id}/repository/files/large/raw`)
    const closing = forge[Symbol.asyncDispose]()
    expect(Buffer.from(await answer.arrayBuffer()).equals(LARGE)).toBe(true)
    await closing
  })
})
