import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import ssh2 from 'ssh2'
import { expect, test } from 'vitest'
import { authorizationOf } from '../../test/lfs.ts'
import { addKey, newKey, sshPortOf, startSshForge } from '../../test/ssh.ts'
import { addressFor, workspace } from '../../test/workspace.ts'
import { startForge } from '../forge.ts'
import { FLUSH, pktLine } from '../git/protocol/pkt-line.ts'
import { NO_OBJECT } from '../git/refs/update.ts'

const MESSAGE = 'a push may bring 1 MB at most'
const MB = 1024 * 1024

/** A new branch, and the start of a pack that never ends. */
const opening = Buffer.concat([
  pktLine(`${NO_OBJECT} ${'1'.repeat(40)} refs/heads/big\0report-status side-band-64k`),
  FLUSH,
  Buffer.from('PACK\0\0\0\x02\0\x0f\xff\xff', 'latin1'),
  // One object that never ends.
  Buffer.from('bfffffffff7f7801', 'hex'),
])

/** Blocks of a deflate stream, none of them the last. */
function block(): Buffer {
  const head = Buffer.from([0, 0xff, 0xff, 0, 0])
  return Buffer.concat([head, randomBytes(0xffff)])
}

test('a push beyond receive_max_input_size is refused, and what fits is not', async () => {
  await using forge = await startForge()
  await using work = await workspace()
  const ann = await forge.user({ username: 'ann' })
  const project = await forge.project({ path: 'engine' }, ann)
  const { git } = work
  const address = addressFor(forge, 'ann/engine', ann)
  await git('init', '-q', '-b', 'master', 'src')
  await writeFile(join(work.folder, 'src', 'big.bin'), randomBytes(8 * MB))
  await git('-C', 'src', 'add', '-A')
  await git('-C', 'src', '-c', 'core.compression=0', 'commit', '-qm', 'Big')

  await forge.administrator.put('/application/settings', { receive_max_input_size: 1 })
  const { code, stderr } = await git('-C', 'src', 'push', address, 'master')
  expect([code, stderr]).toEqual([1, expect.stringContaining(`remote: error: ${MESSAGE}`)])
  expect(stderr).toContain('remote unpack failed: the pack is larger than it may be')
  expect((await ann.get(`/projects/${project.id}/repository/branches`)).body).toEqual([])
  const wiki = addressFor(forge, 'ann/engine.wiki', ann)
  expect((await git('-C', 'src', 'push', wiki, 'master')).stderr).toContain(MESSAGE)

  await forge.administrator.put('/application/settings', { receive_max_input_size: 9 })
  expect((await git('-C', 'src', 'push', address, 'master')).code).toBe(0)
  for (const none of [0, '']) {
    await forge.administrator.put('/application/settings', { receive_max_input_size: none })
    expect((await git('-C', 'src', 'push', address, `HEAD:refs/heads/b${none}`)).code).toBe(0)
  }
})

test('who has not stopped sending is answered, and told to stop', async () => {
  await using forge = await startForge()
  const ann = await forge.user({ username: 'ann' })
  await forge.project({ path: 'engine' }, ann)
  await forge.administrator.put('/application/settings', { receive_max_input_size: 1 })
  const sending = request(`${forge.url}/ann/engine.git/git-receive-pack`, {
    method: 'POST',
    headers: { Authorization: authorizationOf(ann)!, 'Content-Type': 'application/x-git-receive-pack-request' },
  })
  sending.on('error', () => {})
  sending.write(opening)
  let isOver = false
  const answered = once(sending, 'response').then(async ([answer]) => {
    const output = await text(answer)
    isOver = true
    return { said: output, connection: answer.headers.connection }
  })
  while (!isOver) {
    if (!sending.write(block())) await Promise.race([once(sending, 'drain'), answered])
    await new Promise(setImmediate)
  }
  const { said, connection } = await answered
  expect(said).toContain(MESSAGE)
  expect(said).toContain('ng refs/heads/big unpacker error')
  expect(connection).toBe('close')
  if (!sending.closed) await once(sending, 'close')
})

test('the same over SSH', async () => {
  await using forge = await startSshForge()
  const ann = await forge.user({ username: 'ann' })
  await forge.project({ path: 'engine' }, ann)
  await forge.administrator.put('/application/settings', { receive_max_input_size: 1 })
  const key = await newKey()
  await addKey(ann, key)
  const client = new ssh2.Client()
  client.connect({ host: '127.0.0.1', port: sshPortOf(forge), username: 'git', privateKey: key.private })
  await once(client, 'ready')
  const { promise: opened, resolve, reject } = Promise.withResolvers<ssh2.ClientChannel>()
  client.exec("git-receive-pack 'ann/engine.git'", (error, channel) => (error ? reject(error) : resolve(channel)))
  const channel = await opened
  channel.on('error', () => {})
  const output = text(channel)
  const closed = once(channel, 'close')
  channel.write(opening)
  let isOver = false
  void closed.then(() => (isOver = true))
  while (!isOver) {
    if (!channel.write(block())) await Promise.race([once(channel, 'drain'), closed])
    await new Promise(setImmediate)
  }
  expect(await output).toContain(MESSAGE)
  client.end()
})
