/** The host keys of this server: created once, and never changed. */
import { randomUUID } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode, nullIfMissing } from '../../lib/files/system-errors.ts'
import { fingerprintOf } from './identities.ts'

/** With their bits. The server offers the first kind first. */
const KINDS = { ed25519: undefined, rsa: 3072 } as const
type Kind = keyof typeof KINDS

export async function openHostKeys(data: string): Promise<string[]> {
  const folder = join(data, 'ssh')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return Promise.all((Object.keys(KINDS) as Kind[]).map((kind) => openKey(join(folder, `ssh_host_${kind}_key`), kind)))
}

/** The fingerprints that users compare with their client, one line for each key. */
export async function hostKeyLines(data: string): Promise<string[]> {
  const keys = await openHostKeys(data)
  const blobs = await Promise.all(keys.map(publicHalf))
  return Object.keys(KINDS).map((kind, n) => `SSH host key: ${fingerprintOf(blobs[n]!)} (${kind.toUpperCase()})`)
}

const MAGIC = 'openssh-key-v1\0'

/** OpenSSH stores the public key unencrypted before the private key. Imported keys may have another format. */
async function publicHalf(key: string): Promise<Buffer> {
  const bytes = Buffer.from(key.replaceAll(/-----[^-]+-----/g, ''), 'base64')
  if (bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return publicHalfByLibrary(key)
  let at = MAGIC.length
  // Skips cipher, key derivation and its options; then reads the number of keys.
  for (let field = 0; field < 3; field++) at += 4 + bytes.readUInt32BE(at)
  at += 4
  return bytes.subarray(at + 4, at + 4 + bytes.readUInt32BE(at))
}

/** Loaded on demand, because the library takes longer to load than the rest of the SSH start. */
async function publicHalfByLibrary(key: string): Promise<Buffer> {
  const { default: ssh2 } = await import('ssh2')
  const parsed = ssh2.utils.parseKey(key)
  if (parsed instanceof Error) throw parsed
  return parsed.getPublicSSH()
}

async function openKey(file: string, kind: Kind): Promise<string> {
  const known = await readFile(file, 'utf8').catch(nullIfMissing)
  if (known !== null) return known
  const { newKeyPair } = await import('./key-pair.ts')
  const made = await newKeyPair(kind, KINDS[kind])
  return (await createKey(file, made.private)) ?? readFile(file, 'utf8')
}

/** Null if another process was faster; then its key counts. The file never contains a partial key. */
async function createKey(file: string, key: string): Promise<string | null> {
  const draft = `${file}.${randomUUID()}`
  await writeFile(draft, key, { mode: 0o600, flag: 'wx', flush: true })
  try {
    await link(draft, file)
    return key
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return null
    throw error
  } finally {
    await rm(draft)
  }
}
