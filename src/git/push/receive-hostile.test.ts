import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough, Readable, Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { deflateSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { runGit, temporaryFolder } from '../../../test/git-origin.ts'
import { buildTree, writeCommit } from '../objects/building.ts'
import { resolveCommit } from '../objects/commits.ts'
import { withhold } from '../objects/withheld.ts'
import { FLUSH, pktLine, PktLineDecoder, splitBand } from '../protocol/pkt-line.ts'
import { isQuarantine } from './quarantine.ts'
import { receivePack, type PushLimits, type PushResult } from './receive.ts'
import { createRepository } from '../storage/repositories.ts'
import { sweepRepository } from '../storage/sweep.ts'

const ZERO = '0'.repeat(40)
const CAPABILITIES = 'report-status side-band-64k agent=test'

async function repository() {
  const data = await temporaryFolder()
  const [dir, source] = ['x.git', 'source.git'].map((name) => join(data.path, name)) as [string, string]
  await createRepository(dir, { defaultBranch: 'master' })
  await createRepository(source, { defaultBranch: 'master' })
  return {
    dir,
    source,
    refs: () => runGit([`--git-dir=${dir}`, 'for-each-ref', '--format=%(refname) %(objectname)']),
    fsck: () => runGit([`--git-dir=${dir}`, 'fsck', '--strict', '--connectivity-only']),
    leftovers: async () => (await readdir(join(dir, 'objects'))).filter(isQuarantine),
    [Symbol.asyncDispose]: () => data[Symbol.asyncDispose](),
  }
}

/** A commit with a file of these bytes, and the complete pack. */
async function packed(source: string, content: string | Uint8Array): Promise<{ commit: string; pack: Buffer }> {
  const by = { name: 'A', email: 'a@example.com', date: new Date(0) }
  const tree = await buildTree(source, null, [{ path: 'file', content }])
  const commit = await writeCommit(source, { tree, parents: [], message: 'x\n', author: by, committer: by })
  const child = spawn('git', [`--git-dir=${source}`, 'pack-objects', '--revs', '--stdout', '-q'])
  child.stdin.end(`${commit}\n`)
  return { commit, pack: await buffer(child.stdout) }
}

const asking = (after: string, { ref = 'refs/heads/master', before = ZERO, capabilities = CAPABILITIES } = {}) =>
  Buffer.concat([pktLine(`${before} ${after} ${ref}\0 ${capabilities}\n`), FLUSH])

interface Received {
  readonly result: PushResult
  readonly report: string
  readonly words: string
  readonly raw: Buffer
}

async function push(dir: string, input: Readable | Buffer, limits: PushLimits = {}): Promise<Received> {
  const output = new PassThrough()
  const report = buffer(output)
  const result = await receivePack(dir, {
    input: Buffer.isBuffer(input) ? Readable.from([input]) : input,
    // A short push of a known size is checked without git first.
    size: Buffer.isBuffer(input) ? input.length : undefined,
    output,
    stateless: true,
    gate: () => Promise.resolve({}),
    limits,
  })
  output.end()
  const raw = await report
  const decoder = new PktLineDecoder()
  decoder.push(raw)
  const bands: Record<number, string> = { 1: '', 2: '', 3: '' }
  for (let line = decoder.next(); Buffer.isBuffer(line); line = decoder.next()) {
    if (line[0]! > 3) break
    const { band, content } = splitBand(line)
    bands[band] += content.toString()
  }
  return { result, report: bands[1]!, words: bands[2]!, raw }
}

test('a push of bytes: the least a client may say', async () => {
  await using repo = await repository()
  const { commit, pack } = await packed(repo.source, 'x')
  const { report, result } = await push(repo.dir, Buffer.concat([asking(commit), pack]))
  expect(report).toBe('000eunpack ok\n0019ok refs/heads/master\n0000')
  expect(result).toEqual({ moved: [{ ref: 'refs/heads/master', before: ZERO, after: commit }], refused: [] })

  const plain = await push(repo.dir, asking(ZERO, { before: commit, capabilities: 'report-status delete-refs' }))
  expect(plain.raw.toString()).toBe('000eunpack ok\n0019ok refs/heads/master\n0000')
  const mute = await push(repo.dir, Buffer.concat([asking(commit, { capabilities: '' }), pack]))
  expect(mute.raw).toHaveLength(0)
  expect(await repo.refs()).toBe(`refs/heads/master ${commit}`)
  for (const nothing of [Buffer.from('0000'), Buffer.alloc(0)]) {
    const { raw, result } = await push(repo.dir, nothing)
    expect(raw).toHaveLength(0)
    expect(result).toEqual({ moved: [], refused: [] })
  }
})

test('the borders of chunks make no difference', async () => {
  await using repo = await repository()
  const { commit, pack } = await packed(repo.source, 'x')
  const bytes = Buffer.concat([
    pktLine(`${ZERO} ${commit} refs/heads/master\0report-status push-options\n`),
    FLUSH,
    pktLine('an option'),
    FLUSH,
    pack,
  ])
  for (const size of [1, 3, 50, 151]) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
      bytes.subarray(n * size, (n + 1) * size),
    )
    expect((await push(repo.dir, Readable.from(chunks))).result.moved).toHaveLength(1)
    await push(repo.dir, asking(ZERO, { before: commit }))
  }
})

describe('what is no push is thrown, and nothing is said or left', () => {
  const id = '1'.repeat(40)
  const line = (text: string) => Buffer.concat([pktLine(text), FLUSH])
  test.each<[string, Buffer | (() => Readable), string]>([
    ['another protocol', Buffer.from('POST / HTTP/1.1\r\n\r\n'), 'BadPktLine'],
    ['a huge line', Buffer.from('ffffx'), 'BadPktLine'],
    ['a line shorter than its header', Buffer.from('0003'), 'BadPktLine'],
    ['a line cut off', asking(id).subarray(0, 60), 'BadPktLine'],
    ['commands without an end', asking(id).subarray(0, -4), 'BadPktLine'],
    ['a sign that is no flush', Buffer.from('0001'), 'BadPush'],
    ['no command', line('hello'), 'BadPush'],
    ['short ids', line('123 456 refs/heads/x'), 'BadPush'],
    ['no ref', line(`${ZERO} ${id} `), 'BadPush'],
    ['a certificate', line('push-cert\0report-status'), 'BadPush'],
    ['another kind of ids', asking(id, { capabilities: 'object-format=sha256' }), 'BadPush'],
    ['no options, though announced', asking(id, { capabilities: 'push-options' }), 'BadPktLine'],
    [
      'a broken connection',
      () => Readable.from(brokenOff(Object.assign(new Error('x'), { code: 'ECONNRESET' }))),
      'ClientGone',
    ],
    ['a body that is no gzip', () => Readable.from(brokenOff(new TypeError('no gzip'))), 'TypeError'],
  ])('%s', async (_what, input, name) => {
    await using repo = await repository()
    const output = new PassThrough()
    const run = receivePack(repo.dir, {
      input: Buffer.isBuffer(input) ? Readable.from([input]) : input(),
      output,
      stateless: true,
      gate: () => Promise.reject(new Error('asked')),
    })
    await expect(run).rejects.toMatchObject({ name })
    expect(output.read()).toBeNull()
    expect(await repo.refs()).toBe('')
    expect(await repo.leftovers()).toEqual([])
  })

  async function* brokenOff(error: Error): AsyncGenerator<Buffer> {
    yield asking(id).subarray(0, 30)
    throw error
  }

  test('more commands than are listened to', async () => {
    await using repo = await repository()
    let sent = 0
    const endless = Readable.from(
      (function* () {
        for (;;) yield pktLine(`${ZERO} ${id} refs/heads/${sent++}\n`)
      })(),
    )
    await expect(push(repo.dir, endless, { requestBytes: 100_000 })).rejects.toThrow('too many commands')
    expect(sent).toBeLessThan(2000)
  })
})

describe('a pack is refused', () => {
  const empty = Buffer.concat([Buffer.from('PACK\0\0\0\x02\0\0\0\0')])
  const sealed = (body: Buffer) => Buffer.concat([body, createHash('sha1').update(body).digest()])

  test('when it is cut off, wherever', async () => {
    await using repo = await repository()
    const { commit, pack } = await packed(repo.source, 'some content')
    for (const size of [0, 1, 11, 12, 13, 40, pack.length - 21, pack.length - 20, pack.length - 1]) {
      const { report, result } = await push(repo.dir, Buffer.concat([asking(commit), pack.subarray(0, size)]))
      expect(report, String(size)).toBe('001dunpack index-pack failed\n0028ng refs/heads/master unpacker error\n0000')
      expect(result.refused).toEqual([{ ref: 'refs/heads/master', reason: 'unpacker error' }])
    }
    expect(await repo.refs()).toBe('')
    expect(await repo.leftovers()).toEqual([])
    expect(await readdir(join(repo.dir, 'objects/pack'))).toEqual([])
  })

  test('when a bit of it is wrong', async () => {
    await using repo = await repository()
    const { commit, pack } = await packed(repo.source, 'some content')
    for (let at = 0; at < pack.length; at += 7) {
      const broken = Buffer.from(pack)
      broken[at]! ^= 0x11
      expect((await push(repo.dir, Buffer.concat([asking(commit), broken]))).result.moved, String(at)).toEqual([])
    }
    expect(await repo.refs()).toBe('')
    expect(await repo.leftovers()).toEqual([])
  })

  test('when it refers to what is withheld, and does not bring it', async () => {
    await using repo = await repository()
    const { dir, source } = repo
    const { commit, pack } = await packed(source, 'some content')
    await push(dir, Buffer.concat([asking(commit), pack]))
    await runGit([`--git-dir=${dir}`, 'update-ref', '-d', 'refs/heads/master'])
    await withhold(dir, [commit])
    expect(await resolveCommit(dir, commit)).toBeNull()
    const { report } = await push(dir, Buffer.concat([asking(commit), sealed(empty)]))
    expect(report).toContain('ng refs/heads/master missing necessary objects\n')
    const { result } = await push(dir, Buffer.concat([asking(commit), pack]))
    expect(result.moved).toHaveLength(1)
    expect(await resolveCommit(dir, commit)).toBe(commit)
    expect(await readdir(dir)).not.toContain('withheld')
  })

  test('when it does not bring what its refs need', async () => {
    await using repo = await repository()
    const { commit, pack } = await packed(repo.source, 'some content')
    const { report } = await push(repo.dir, Buffer.concat([asking(commit), sealed(empty)]))
    expect(report).toContain('ng refs/heads/master missing necessary objects\n')
    // Only a commit, without its tree.
    const child = spawn('git', [`--git-dir=${repo.source}`, 'pack-objects', '--stdout', '-q'])
    child.stdin.end(`${commit}\n`)
    const alone = await buffer(child.stdout)
    expect((await push(repo.dir, Buffer.concat([asking(commit), alone]))).result.moved).toEqual([])
    expect(await repo.refs()).toBe('')
    expect((await push(repo.dir, Buffer.concat([asking(commit), pack]))).result.moved).toHaveLength(1)
    // Now all objects exist, and the pack can be empty.
    const again = Buffer.concat([asking(commit, { ref: 'refs/heads/again' }), sealed(empty)])
    expect((await push(repo.dir, again)).result.moved).toHaveLength(1)
    expect((await readdir(join(repo.dir, 'objects/pack'))).filter((name) => name.endsWith('.pack'))).toHaveLength(1)
    expect(await repo.fsck()).toBe('')
  })

  test('when it is larger than it may be', async () => {
    await using repo = await repository()
    const { commit, pack } = await packed(repo.source, randomBytes(60_000))
    const { report } = await push(repo.dir, Buffer.concat([asking(commit), pack]), { packBytes: pack.length - 1 })
    expect(report).toMatch(/unpack the pack is larger than it may be\n.*unpacker error/)
    expect(await repo.leftovers()).toEqual([])
    const fits = await push(repo.dir, Buffer.concat([asking(commit), pack]), { packBytes: pack.length })
    expect(fits.result.moved).toHaveLength(1)
  })

  test('when it claims more objects than any pack has', async () => {
    await using repo = await repository()
    const { words, result } = await push(
      repo.dir,
      Buffer.concat([asking('1'.repeat(40)), sealed(Buffer.from('PACK\0\0\0\x02\x7f\xff\xff\xff', 'latin1'))]),
    )
    expect(result.moved).toEqual([])
    expect(words).toMatch(/over limit/)
  })

  test('when a few bytes of it ask for all the memory', async () => {
    await using repo = await repository()
    const bomb = sealed(deltaBomb())
    expect(bomb.length).toBeLessThan(60_000)
    const most = peakMemory(repo.dir)
    const { result, words } = await push(repo.dir, Buffer.concat([asking('1'.repeat(40)), bomb]))
    expect(result.moved).toEqual([])
    expect(words).toMatch(/over limit/)
    expect(most()).toBeLessThan(700 * 1024)
    expect(await repo.leftovers()).toEqual([])
  })

  test('when it takes too long to understand', async () => {
    await using repo = await repository()
    const huge = deflateSync(Buffer.alloc(400_000_000))
    const body = Buffer.concat([Buffer.from('PACK\0\0\0\x02\0\0\0\x01'), objectHeader(3, 400_000_000), huge])
    const { report } = await push(repo.dir, Buffer.concat([asking('1'.repeat(40)), sealed(body)]), { deadline: 150 })
    expect(report).toMatch(/unpack index-pack took too long\n.*unpacker error/)
    expect(await repo.leftovers()).toEqual([])
  })

  test('when the client falls silent', async () => {
    await using repo = await repository()
    const { commit, pack } = await packed(repo.source, 'x')
    const silence = new PassThrough()
    silence.write(Buffer.concat([asking(commit), pack.subarray(0, 30)]))
    await expect(push(repo.dir, silence, { idle: 100 })).rejects.toMatchObject({ name: 'ClientTooSlow' })
    expect(silence.destroyed).toBe(false)
    const atOnce = new PassThrough()
    await expect(push(repo.dir, atOnce, { idle: 100 })).rejects.toMatchObject({ name: 'ClientTooSlow' })
    expect(await repo.leftovers()).toEqual([])
  })

  test('when the signal says so; once the gate has spoken it goes through', async () => {
    await using repo = await repository()
    const { commit, pack } = await packed(repo.source, 'x')
    const run = (abortIn: 'gate' | 'afterwards') => {
      const controller = new AbortController()
      const abort = async () => {
        controller.abort(new Error('stop'))
        return {}
      }
      return receivePack(repo.dir, {
        input: Readable.from([Buffer.concat([asking(commit), pack])]),
        output: new Writable({ write: (_chunk, _encoding, done) => done() }),
        stateless: true,
        signal: controller.signal,
        gate: () => (abortIn === 'gate' ? abort() : Promise.resolve({})),
        afterwards: () => (abortIn === 'afterwards' ? abort() : Promise.resolve()),
      })
    }
    await expect(run('gate')).rejects.toThrow('stop')
    expect(await repo.refs()).toBe('')
    expect((await run('afterwards')).moved).toHaveLength(1)
    expect(await repo.leftovers()).toEqual([])
  })
})

test('names of any bytes are answered by the same bytes', async () => {
  await using repo = await repository()
  const { commit, pack } = await packed(repo.source, 'x')
  const names = [
    'HEAD',
    'refs/heads/a..b',
    'refs/heads/a b',
    'refs/heads/',
    'refs/heads/x.lock',
    'refs/heads/\xff\xfe',
    'x/y',
  ]
  const lines = names.map((name, n) =>
    pktLine(Buffer.from(`${ZERO} ${commit} ${name}${n === 0 ? `\0${CAPABILITIES}` : ''}`, 'latin1')),
  )
  const twice = pktLine(`${ZERO} ${commit} refs/heads/ok`)
  const { result, raw } = await push(repo.dir, Buffer.concat([...lines, twice, twice, FLUSH, pack]))
  expect(result.refused.map(({ reason }) => reason)).toEqual([
    ...names.map(() => 'funny refname'),
    'multiple updates for ref not allowed',
  ])
  expect(raw.includes(Buffer.from('ng refs/heads/\xff\xfe funny refname\n', 'latin1'))).toBe(true)
  expect(await repo.refs()).toBe(`refs/heads/ok ${commit}`)
})

describe('kill -9', () => {
  test('at any moment leaves a whole repository, and what the sweep knows', async () => {
    await using repo = await repository()
    const { commit, pack } = await packed(repo.source, randomBytes(3_000_000))
    const bytes = Buffer.concat([asking(commit), pack])
    let done = 0
    for (let delay = 0; delay <= 280 && done < 2; delay += 40) {
      const child = receiveElsewhere(repo.dir, bytes)
      await new Promise((resolve) => child.stderr.once('data', resolve))
      const ended = new Promise<boolean>((resolve) => child.once('close', (code) => resolve(code === 0)))
      await new Promise((resolve) => setTimeout(resolve, delay))
      child.kill('SIGKILL')
      for (const pid of processesOf(repo.dir)) end(pid)
      if (await ended) done++
      const refs = await repo.refs()
      expect(['', `refs/heads/master ${commit}`]).toContain(refs)
      expect(await repo.fsck()).not.toMatch(/error|missing|broken/)
      const strange = (await readdir(join(repo.dir, 'objects'))).filter(
        (name) => !/^([0-9a-f]{2}|info|pack)$/.test(name),
      )
      expect(strange.filter((name) => !isQuarantine(name))).toEqual([])
      await sweepRepository(repo.dir, { before: new Date(Date.now() + 60_000) })
      expect(await repo.leftovers()).toEqual([])
      if (refs !== '') await runGit([`--git-dir=${repo.dir}`, 'update-ref', '-d', 'refs/heads/master'])
    }
    expect((await push(repo.dir, bytes)).result.moved).toHaveLength(1)
  })

  test.each([
    ['in the gate', 'gate', 0],
    ['behind the refs', 'afterwards', 1],
  ])('%s', async (_where, place, moved) => {
    await using repo = await repository()
    const { commit, pack } = await packed(repo.source, 'x')
    const bytes = Buffer.concat([asking(commit), pack])
    const child = receiveElsewhere(repo.dir, bytes, `${place}: () => process.kill(process.pid, 'SIGKILL')`)
    await new Promise((resolve) => child.once('close', resolve))
    expect(await repo.refs()).toBe(moved ? `refs/heads/master ${commit}` : '')
    expect(await repo.leftovers()).toHaveLength(moved ? 0 : 1)
    expect(await repo.fsck()).not.toMatch(/error|missing|broken/)
    const again = Buffer.concat([asking(commit, { ref: 'refs/heads/again' }), pack])
    expect((await push(repo.dir, again)).result.moved).toHaveLength(1)
  })

  test('the sweep spares what is young', async () => {
    await using repo = await repository()
    const old = new Date(Date.now() - 7_200_000)
    const files = [
      'refs/heads/a.lock',
      'packed-refs.lock',
      'tmp_ref_x',
      'objects/pack/pack-x.pack',
      'objects/pack/tmp_pack_x',
      'objects/ab/tmp_obj_x',
      'objects/info/commit-graphs/tmp_graph_x',
      'objects/tmp_objdir-incoming-x/pack/y',
    ]
    for (const state of ['old', 'young'])
      for (const file of files) {
        const path = join(
          repo.dir,
          file.replace('x', state).replace('a.lock', `${state}.lock`).replace('packed-refs', `${state}`),
        )
        await mkdir(join(path, '..'), { recursive: true })
        await writeFile(path, '')
      }
    const all = (await readdir(repo.dir, { recursive: true })).filter((name) => name.includes('old'))
    for (const name of all.toReversed()) await utimes(join(repo.dir, name), old, old)
    await sweepRepository(repo.dir, { before: new Date(Date.now() - 3_600_000) })
    const left = (await readdir(repo.dir, { recursive: true })).filter((name) => /old|young/.test(name))
    expect(left.filter((name) => name.includes('old'))).toEqual([])
    expect(left.filter((name) => name.includes('young'))).toHaveLength(10)
  })
})

function objectHeader(type: number, size: number): Buffer {
  const bytes = [(type << 4) | (size & 15)]
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1]! |= 0x80
    bytes.push(rest & 127)
  }
  return Buffer.from(bytes)
}

function varint(size: number): Buffer {
  const bytes: number[] = []
  for (let rest = size; ; rest = Math.floor(rest / 128)) {
    bytes.push((rest % 128) | (rest >= 128 ? 0x80 : 0))
    if (rest < 128) return Buffer.from(bytes)
  }
}

/** A blob of 16 MB of zeros, and a delta that repeats it up to 20 GB. */
function deltaBomb(): Buffer {
  const size = 0xffffff
  const times = 1300
  const base = Buffer.concat([objectHeader(3, size), deflateSync(Buffer.alloc(size))])
  const copy = Buffer.from([0xf0, 0xff, 0xff, 0xff])
  const delta = Buffer.concat([varint(size), varint(size * times), ...Array.from({ length: times }, () => copy)])
  const id = createHash('sha1').update(`blob ${size}\0`).update(Buffer.alloc(size)).digest()
  return Buffer.concat([
    Buffer.from('PACK\0\0\0\x02\0\0\0\x02'),
    base,
    objectHeader(7, delta.length),
    id,
    deflateSync(delta),
  ])
}

function processesOf(dir: string): number[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`GIT_DIR=${dir}\0`)
        ? [Number(pid)]
        : []
    } catch {
      return []
    }
  })
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has ended by itself meanwhile.
  }
}

/** The peak memory in kilobytes of any git process of this repository, until the function is called. */
function peakMemory(dir: string): () => number {
  let most = 0
  const look = () => {
    for (const pid of processesOf(dir)) {
      try {
        const kilobytes = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
        most = Math.max(most, kilobytes)
      } catch {
        // The process has ended.
      }
    }
  }
  const timer = setInterval(look, 5)
  return () => {
    clearInterval(timer)
    return most
  }
}

/** A separate process that receives a push and gets killed. */
function receiveElsewhere(dir: string, bytes: Buffer, more = '') {
  const script = `
    import { receivePack } from ${JSON.stringify(new URL('./receive.ts', import.meta.url).href)}
    process.stderr.write('go')
    await receivePack(${JSON.stringify(dir)}, {
      input: process.stdin, output: process.stdout, stateless: true, gate: async () => ({}), ${more}
    })`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'ignore', 'pipe'] })
  child.stdin.on('error', () => {}).end(bytes)
  return child
}
