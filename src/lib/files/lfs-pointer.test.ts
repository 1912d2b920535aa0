import { expect, test } from 'vitest'
import { readPointer } from './lfs-pointer.ts'

const OID = 'ab'.repeat(32)
const VERSION = 'version https://git-lfs.github.com/spec/v1'
const pointer = (...lines: string[]) => Buffer.from(lines.map((line) => `${line}\n`).join(''))

test.each([
  [pointer(VERSION, `oid sha256:${OID}`, 'size 12345')],
  [pointer('version https://hawser.github.com/spec/v1', `oid sha256:${OID}`, 'size 12345')],
  [pointer(VERSION, `ext-0-foo sha256:${OID}`, `oid sha256:${OID}`, 'size 12345')],
])('pointer %#', (content) => {
  expect(readPointer(content)).toEqual({ oid: OID, size: 12345 })
})

test.each([
  ['nothing', Buffer.alloc(0)],
  ['a text', Buffer.from('hello\n')],
  ['another version', pointer('version https://example.com/v9', `oid sha256:${OID}`, 'size 1')],
  ['a version that is not first', pointer(`oid sha256:${OID}`, VERSION, 'size 1')],
  ['no size', pointer(VERSION, `oid sha256:${OID}`)],
  ['a size below zero', pointer(VERSION, `oid sha256:${OID}`, 'size -1')],
  ['another digest', pointer(VERSION, `oid md5:${OID}`, 'size 1')],
  ['a digest cut short', pointer(VERSION, `oid sha256:${OID.slice(1)}`, 'size 1')],
  ['two digests', pointer(VERSION, `oid sha256:${OID}`, `oid sha256:${'cd'.repeat(32)}`, 'size 1')],
  ['a path for a digest', pointer(VERSION, 'oid sha256:../../secret.key', 'size 1')],
  ['a long file that begins like one', pointer(VERSION, `oid sha256:${OID}`, 'size 1', 'x'.repeat(1024))],
])('%s is no pointer', (_what, content) => {
  expect(readPointer(content)).toBeNull()
})
