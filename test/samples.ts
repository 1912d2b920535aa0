/** Small well-formed samples for tests. */
import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const be32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value >>> 0)
  return bytes
}

/** The frame of a PNG with any declared size. */
export function pngOf(width: number, height: number): Buffer {
  const header = Buffer.concat([Buffer.from('IHDR'), be32(width), be32(height), Buffer.from([8, 6, 0, 0, 0])])
  const end = Buffer.concat([be32(0), Buffer.from('IEND'), be32(0xae426082)])
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), be32(13), header, be32(crc32(header)), end])
}

export const PIXEL = pngOf(1, 1)

/** Any 32 bytes are accepted as an Ed25519 point in the text of a public key. */
export function sshKey(): string {
  const field = (bytes: Buffer) => Buffer.concat([be32(bytes.length), bytes])
  return `ssh-ed25519 ${Buffer.concat([field(Buffer.from('ssh-ed25519')), field(randomBytes(32))]).toString('base64')}`
}

export function aFile(): FormData {
  const form = new FormData()
  form.set('file', new File(['words'], 'notes.txt'))
  return form
}
