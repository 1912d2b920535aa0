/**
 * A client that does not read its answer, or does not finish its request, loses the connection and its limiter slot.
 */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { Client, type ClientChannel } from 'ssh2'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addKey, newKey, sshPortOf, startSshForge } from '../../test/ssh.ts'
import { addressFor, workspace } from '../../test/workspace.ts'
import type { TestForge } from '../forge.ts'
import { FLUSH, pktLine } from '../git/protocol/pkt-line.ts'
import { Limiter } from '../lib/async/limiter.ts'

/** Larger than the buffers of both ends. */
const LARGE = 24 * 1024 * 1024

let forge: TestForge
let head: string
const key = await newKey()

beforeAll(async () => {
  forge = await startSshForge()
  await using work = await workspace()
  const ann = await forge.user({ username: 'ann' })
  await addKey(ann, key)
  await forge.project({ path: 'engine', visibility: 'public' }, ann)
  await work.git('init', '-q', '-b', 'master', 'src')
  await writeFile(join(work.folder, 'src', 'large'), randomBytes(LARGE))
  await work.git('-C', 'src', '-c', 'core.compression=0', 'add', '.')
  await work.git('-C', 'src', 'commit', '-qm', 'First')
  await work.git('-C', 'src', '-c', 'core.compression=0', 'push', addressFor(forge, 'ann/engine', ann), 'master')
  head = (await work.git('-C', 'src', 'rev-parse', 'HEAD')).stdout
})
afterAll(() => forge[Symbol.asyncDispose]())

/** A limiter with one slot, so that the next request shows whether the slot was released. */
function narrow() {
  const limits = { perCaller: 1, inAll: 1, waitingPerCaller: 9, waitingInAll: 9, patience: 60_000 }
  const limiters = { git: new Limiter(limits), download: new Limiter(limits), transport: new Limiter(limits) }
  Object.assign(forge.app, { limiters: limiters })
  return limiters
}

const question = () =>
  Buffer.concat([
    pktLine('command=fetch\n'),
    Buffer.from('0001'),
    pktLine('no-progress\n'),
    pktLine(`want ${head}\n`),
    pktLine('done\n'),
    FLUSH,
  ])

function asking(method: string, path: string, body: Buffer = Buffer.alloc(0), more = 0): Socket {
  const { hostname, port } = new URL(forge.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: forge',
    `Content-Length: ${body.length + more}`,
    'Content-Type: application/x-git-upload-pack-request',
    'Git-Protocol: version=2',
  ]
  socket.write(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]))
  return socket
}

const UPLOAD = '/ann/engine.git/git-upload-pack'
const clone = () => asking('POST', UPLOAD, question())

/** Polls until it is over, as often as the buffers of both ends need to fill. */
async function cutOff(isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await forge.app.stalls.look()
    await turn()
  }
}

test.each([
  ['a clone', 'transport', clone],
  ['an archive', 'download', () => asking('GET', '/api/v4/projects/ann%2Fengine/repository/archive.tar')],
  [
    'a raw file',
    'download',
    () => asking('GET', '/api/v4/projects/ann%2Fengine/repository/files/large/raw?ref=master'),
  ],
] as const)('%s that nobody reads frees its slot', async (_what, kind, open) => {
  const limiter = narrow()[kind]
  const socket = open()
  await once(socket, 'readable')
  let isNext = false
  void limiter.enter({ key: 'next', isAnonymous: false }).then(() => (isNext = true))
  await turn()
  expect(isNext).toBe(false)
  await cutOff(() => isNext)
  expect(isNext).toBe(true)
  socket.destroy()
})

test('who reads a little between any two looks keeps the slot', async () => {
  narrow()
  const socket = clone()
  let read = 0
  for (let n = 0; n < 20; n++) {
    for (const until = read + 512 * 1024; read < until;) {
      const chunk = socket.read() as Buffer | null
      if (chunk) read += chunk.length
      else await once(socket, 'readable')
    }
    await forge.app.stalls.look()
  }
  for (; socket.readable && read < LARGE; await turn()) read += (socket.read() as Buffer | null)?.length ?? 0
  expect(read).toBeGreaterThanOrEqual(LARGE)
  socket.destroy()
})

test('who has asked half a question is not waited for', async () => {
  const { transport } = narrow()
  const socket = asking('POST', UPLOAD, question().subarray(0, 20), 100).resume()
  let isNext = false
  // As soon as one request has the slot, the next one waits.
  await expect.poll(() => isHeld(transport)).toBe(true)
  void transport.enter({ key: 'next', isAnonymous: false }).then(() => (isNext = true))
  await cutOff(() => isNext)
  expect(isNext).toBe(true)
  socket.destroy()
})

async function isHeld(limiter: Limiter): Promise<boolean> {
  const gone = new AbortController()
  const entering = limiter.enter({ key: 'probe', isAnonymous: false }, () => gone.signal)
  gone.abort()
  return entering.then(
    (leave) => {
      leave()
      return false
    },
    () => true,
  )
}

test('a clone over SSH that nobody reads frees its slot', async () => {
  const { transport } = narrow()
  const client = new Client().on('error', () => {})
  client.connect({ host: '127.0.0.1', port: sshPortOf(forge), username: 'git', privateKey: key.private })
  await once(client, 'ready')
  const channel = await new Promise<ClientChannel>((resolve, reject) => {
    const env = { GIT_PROTOCOL: 'version=2' }
    client.exec("git-upload-pack 'ann/engine.git'", { env }, (error, opened) =>
      error ? reject(error) : resolve(opened),
    )
  })
  channel.write(question())
  await once(channel, 'readable')
  let isNext = false
  void transport.enter({ key: 'next', isAnonymous: false }).then(() => (isNext = true))
  await cutOff(() => isNext)
  expect(isNext).toBe(true)
  client.destroy()
})
