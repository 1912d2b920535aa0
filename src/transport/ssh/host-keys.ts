/** What clients know this server by: made once, and the same ever after. */
import { randomUUID } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode, nullIfMissing } from '../../lib/system-errors.ts'
import { fingerprintOf } from './identities.ts'

/** With their bits. The first is the one clients are offered first. */
const KINDS = { ed25519: undefined, rsa: 3072 } as const
type Kind = keyof typeof KINDS

export async function openHostKeys(data: string): Promise<string[]> {
  const folder = join(data, 'ssh')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return Promise.all((Object.keys(KINDS) as Kind[]).map((kind) => openKey(join(folder, `ssh_host_${kind}_key`), kind)))
}

/** What people compare with what their client shows them, a line for each key. */
export async function hostKeyLines(data: string): Promise<string[]> {
  const keys = await openHostKeys(data)
  const blobs = await Promise.all(keys.map(publicHalf))
  return Object.keys(KINDS).map((kind, n) => `SSH host key: ${fingerprintOf(blobs[n]!)} (${kind.toUpperCase()})`)
}

const MAGIC = 'openssh-key-v1\0'

/** OpenSSH keeps it in the clear before the private one. Keys that came from elsewhere may be written otherwise. */
async function publicHalf(key: string): Promise<Buffer> {
  const bytes = Buffer.from(key.replaceAll(/-----[^-]+-----/g, ''), 'base64')
  if (bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return publicHalfByLibrary(key)
  let at = MAGIC.length
  // Cipher, derivation and its options; then how many keys there are.
  for (let field = 0; field < 3; field++) at += 4 + bytes.readUInt32BE(at)
  at += 4
  return bytes.subarray(at + 4, at + 4 + bytes.readUInt32BE(at))
}

/** Loaded only where it is needed: it weighs more than all else that a start does for SSH. */
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

/** Null when another process was faster: its key is the one then. Under its name there is never half a key. */
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
