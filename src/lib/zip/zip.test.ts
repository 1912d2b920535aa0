import { execFile } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { deflateRawSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/git-origin.ts'
import { openZipFile } from './files.ts'
import { BadZip, openZip, type ZipSource } from './reader.ts'
import { zipOf, type ZipInput } from './writer.ts'

const run = promisify(execFile)
const MTIME = new Date('2026-11-16T12:34:56Z')

const fileOf = (name: string, text: string | Uint8Array, mode = 0o100644): ZipInput => ({
  name,
  mode,
  mtime: MTIME,
  size: Buffer.from(text as string).length,
  content: () => Readable.from([Buffer.from(text as string)]),
})

const packed = (...inputs: ZipInput[]) => buffer(Readable.from(zipOf(inputs)))

const sourceOf = (bytes: Uint8Array): ZipSource => ({
  size: bytes.length,
  // In small pieces, as from a network.
  async *read(start, end) {
    for (let at = start; at < end; at += 7) yield bytes.subarray(at, Math.min(at + 7, end))
  },
})

const opened = async (bytes: Uint8Array, limits = {}) => openZip(sourceOf(bytes), limits)

async function textsOf(bytes: Uint8Array) {
  const zip = await opened(bytes)
  const texts: Record<string, string> = {}
  for await (const entry of zip.entries())
    texts[entry.name] = (await buffer(Readable.from(zip.read(entry)))).toString('utf8')
  return texts
}

test('what is written is read again', async () => {
  const bytes = await packed(
    fileOf('a.txt', 'hello'),
    fileOf('dir/ü.bin', 'x'.repeat(100_000), 0o100755),
    fileOf('empty', ''),
    { ...fileOf('dir/sub/', ''), mode: 0o040755 },
    fileOf('link', 'a.txt', 0o120777),
  )
  expect(await textsOf(bytes)).toEqual({
    'a.txt': 'hello',
    'dir/ü.bin': 'x'.repeat(100_000),
    empty: '',
    'dir/sub/': '',
    link: 'a.txt',
  })
  const zip = await opened(bytes)
  expect(zip.count).toBe(5)
  expect(await zip.find('dir/ü.bin')).toMatchObject({ type: 'file', mode: 0o755, size: 100_000, mtime: MTIME })
  expect(await zip.find('dir/sub/')).toMatchObject({ type: 'folder', path: ['dir', 'sub'] })
  expect(await zip.find('link')).toMatchObject({ type: 'link' })
  expect(await zip.find('nowhere')).toBeNull()
  expect((await zip.find('dir/ü.bin'))!.compressed).toBeLessThan(1000)
})

test("Info-ZIP's unzip takes what we write, modes and links too", async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'ours.zip')
  await pipeline(
    Readable.from(
      zipOf([fileOf('run.sh', '#!/bin/sh\n', 0o100755), fileOf('d/e.txt', 'text'), fileOf('l', 'd/e.txt', 0o120777)]),
    ),
    createWriteStream(file),
  )
  await run('unzip', ['-tq', file])
  await run('unzip', ['-q', file, '-d', join(folder.path, 'out')])
  expect(
    (await run('sh', ['-c', 'stat -c "%a %Y" run.sh; readlink l; cat l'], { cwd: join(folder.path, 'out') })).stdout,
  ).toBe(`755 ${MTIME.getTime() / 1000}\nd/e.txt\ntext`)
})

test("we take what Info-ZIP's zip writes, streamed and with a comment", async () => {
  await using folder = await temporaryFolder()
  await mkdir(join(folder.path, 'in/deep'), { recursive: true })
  await writeFile(join(folder.path, 'in/deep/a.txt'), 'a'.repeat(5000))
  await writeFile(join(folder.path, 'in/b'), '')
  await symlink('deep/a.txt', join(folder.path, 'in/l'))
  // zip streams no links.
  const pack = 'zip -qry ../plain.zip . && zip -qr - deep b | cat > ../streamed.zip && echo hi | zip -qz ../plain.zip'
  await run('sh', ['-c', `cd in && ${pack}`], { cwd: folder.path })
  const files = { 'deep/': '', 'deep/a.txt': 'a'.repeat(5000), b: '' }
  const textsIn = async (name: string) => textsOf(await readFile(join(folder.path, name)))
  expect(await textsIn('plain.zip')).toEqual({ ...files, l: 'deep/a.txt' })
  expect(await textsIn('streamed.zip')).toEqual(files)
  await using zip = await openZipFile(join(folder.path, 'plain.zip'))
  expect(await zip.find('l')).toMatchObject({ type: 'link' })
})

test('more entries than 16 bits count are told', async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'many.zip')
  function* inputs() {
    for (let n = 0; n < 66_000; n++) yield fileOf(`f/${n}`, '')
  }
  await pipeline(Readable.from(zipOf(inputs())), createWriteStream(file))
  expect((await run('unzip', ['-Z', '-h', file])).stdout).toContain('66000')
  await using zip = await openZipFile(file)
  expect(zip.count).toBe(66_000)
  expect(await zip.find('f/65999')).toMatchObject({ size: 0 })
  await expect(openZipFile(file, { entries: 65_999 })).rejects.toThrow('too many entries')
  await expect(openZipFile(file, { directory: 1000 })).rejects.toThrow('too long a directory')
})

test('a file that grows is cut where it began to, one that shrinks fails', async () => {
  const growing = { ...fileOf('log', 'abcdef'), size: 3 }
  expect(await textsOf(await packed(growing))).toEqual({ log: 'abc' })
  await expect(packed({ ...growing, size: 10 })).rejects.toThrow('log became shorter')
})

test('names that lead elsewhere have no path', async () => {
  const names = ['/etc/passwd', '../up', 'a/../../b', 'a//b', 'C:/x', 'a\\..\\b', 'a/./b', 'nul\0']
  const zip = await opened(await packed(...[...names, './fine/x', 'fine'].map((name) => fileOf(name, 'x'))))
  const paths: unknown[] = []
  for await (const { path } of zip.entries()) paths.push(path)
  expect(paths).toEqual([...names.map(() => null), ['fine', 'x'], ['fine']])
})

const patched = (bytes: Buffer, signature: number, at: number, change: (bytes: Buffer, place: number) => void) => {
  const copy = Buffer.from(bytes)
  const mark = Buffer.alloc(4)
  mark.writeUInt32LE(signature)
  change(copy, copy.lastIndexOf(mark) + at)
  return copy
}

test('broken archives and lies are refused, and never give more than they say', async () => {
  const whole = await packed(fileOf('a', 'x'.repeat(1_000_000)))
  const read = async (bytes: Buffer) => textsOf(bytes)
  const [directory, end] = [0x02014b50, 0x06054b50]
  const cases: [string, Buffer, string][] = [
    ['nothing', Buffer.alloc(0), 'not a zip'],
    ['text', Buffer.from('hello world'.repeat(20)), 'not a zip'],
    ['its first half', whole.subarray(0, whole.length / 2), 'not a zip'],
    ['its second half', whole.subarray(50), 'cut short'],
    ['a count too high', patched(whole, end, 10, (b, at) => b.writeUInt16LE(9, at)), 'cut short'],
    ['a place outside', patched(whole, end, 16, (b, at) => b.writeUInt32LE(0x7fffffff, at)), 'cut short'],
    ['a size too small', patched(whole, directory, 24, (b, at) => b.writeUInt32LE(1000, at)), 'larger than it says'],
    ['a size too large', patched(whole, directory, 24, (b, at) => b.writeUInt32LE(2e6, at)), 'smaller than it says'],
    ['a wrong sum', patched(whole, directory, 16, (b, at) => b.writeUInt32LE(1, at)), 'wrong checksum'],
    ['another method', patched(whole, directory, 10, (b, at) => b.writeUInt16LE(12, at)), 'unknown way'],
    ['encryption', patched(whole, directory, 8, (b, at) => b.writeUInt16LE(1, at)), 'encrypted'],
    ['an entry outside', patched(whole, directory, 42, (b, at) => b.writeUInt32LE(whole.length, at)), 'broken'],
    ['a packed size outside', patched(whole, directory, 20, (b, at) => b.writeUInt32LE(1e6, at)), 'broken entry'],
    ['no local header', patched(whole, directory, 42, (b, at) => b.writeUInt32LE(4, at)), 'broken entry'],
    ['no deflate', patched(whole, 0x04034b50, 40, (b, at) => b.fill(0xff, at, at + 20)), 'broken entry'],
  ]
  for (const [name, bytes, message] of cases) {
    const refusal = await read(bytes).then(
      () => null,
      (error: unknown) => error,
    )
    expect([name, refusal]).toEqual([name, expect.any(BadZip)])
    expect([name, (refusal as Error).message]).toEqual([name, expect.stringContaining(message)])
  }
})

test('a bomb stops at the size it claims', async () => {
  const bomb = deflateRawSync(Buffer.alloc(50_000_000))
  const whole = await packed(fileOf('a', 'x'.repeat(10)))
  const entry = (await (await opened(whole)).find('a'))!
  const at = entry.offset + 30 + 1 + 9
  const swapped = Buffer.concat([whole.subarray(0, at), bomb, whole.subarray(at + entry.compressed)])
  const moved = patched(swapped, 0x02014b50, 20, (b, place) => b.writeUInt32LE(bomb.length, place))
  const start = whole.indexOf(Buffer.from('PK\x01\x02', 'latin1'))
  const placed = patched(moved, 0x06054b50, 16, (b, place) =>
    b.writeUInt32LE(start + bomb.length - entry.compressed, place),
  )
  let given = 0
  const zip = await opened(placed)
  const reading = async () => {
    for await (const chunk of zip.read((await zip.find('a'))!)) given += chunk.length
  }
  await expect(reading()).rejects.toThrow('larger than it says')
  expect(given).toBe(0)
})
