import { lstat, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/git-origin.ts'
import { nullIfMissing } from '../../lib/files/system-errors.ts'
import { BadZip } from '../../lib/zip/reader.ts'
import { zipOf } from '../../lib/zip/writer.ts'
import { extractZip, type ExtractLimits } from './extracting.ts'

async function zipped(files: readonly (readonly [name: string, size: number])[]): Promise<Buffer> {
  const inputs = files.map(([name, size]) => ({
    name,
    mode: 0o100644,
    mtime: new Date(0),
    size,
    content: async function* () {
      yield Buffer.alloc(size)
    },
  }))
  return buffer(Readable.from(zipOf(inputs)))
}

/** Sets a wrong size in the directory for the first entry. */
function lying(zip: Buffer, size: number): Buffer {
  const at = zip.lastIndexOf(Buffer.from('PK\x01\x02', 'latin1'))
  zip.writeUInt32LE(size, at + 24)
  return zip
}

test.each<[string, () => Promise<Buffer>, Partial<ExtractLimits>, string]>([
  [
    'more than may be unpacked',
    () =>
      zipped([
        ['a', 700],
        ['b', 700],
      ]),
    { bytes: 1000 },
    'is too large when unpacked',
  ],
  ['a bomb that tells its size', () => zipped([['a', 5_000_000]]), { bytes: 1_000_000 }, 'is too large when unpacked'],
  [
    'a bomb that lies about it',
    async () => lying(await zipped([['a', 5_000_000]]), 1000),
    { bytes: 1_000_000 },
    'larger than it says',
  ],
  [
    'many entries',
    () => zipped(Array.from({ length: 20 }, (_, n) => [`f${n}`, 0] as const)),
    { entries: 10 },
    'has too many entries',
  ],
  [
    'a file below a file',
    () =>
      zipped([
        ['a', 1],
        ['a/b', 1],
      ]),
    {},
    'has a file below a file',
  ],
  [
    'a file twice as a folder',
    () =>
      zipped([
        ['a/b', 1],
        ['a', 1],
      ]),
    {},
    'has a file where a folder is',
  ],
])('refuses %s, and writes no more than it may', async (_, make, limits, message) => {
  await using folder = await temporaryFolder()
  const root = join(folder.path, 'root')
  await mkdir(root)
  await writeFile(join(folder.path, 'a.zip'), await make())
  const done = extractZip(join(folder.path, 'a.zip'), root, { limits })
  await expect(done).rejects.toThrow(BadZip)
  await expect(done).rejects.toThrow(message)
  expect((await readdir(folder.path)).toSorted()).toEqual(['a.zip', 'root'])
  const found = await lstat(join(root, 'a')).catch(nullIfMissing)
  expect(found?.isFile() ? found.size : 0).toBeLessThanOrEqual(limits.bytes ?? 1)
})
