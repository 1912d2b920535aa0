/**
 * Secrets of the instance: random tokens, their digests (which the store looks tokens up by), and encryption of the few
 * values that must be read back.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import { Lru } from '../async/lru.ts'

/** Without l, I, O and 0, which people confuse when they read a token aloud: 60 characters. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789-_'
const TOKEN_LENGTH = 20

/**
 * Bytes at or above the largest multiple of the alphabet's length are drawn again, so that no character is more likely.
 */
export function randomToken(length = TOKEN_LENGTH): string {
  const limit = 256 - (256 % ALPHABET.length)
  let token = ''
  while (token.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < limit && token.length < length) token += ALPHABET[byte % ALPHABET.length]
    }
  }
  return token
}

export const randomHex = (bytes = 32): string => randomBytes(bytes).toString('hex')

/** Tokens are random, so a plain digest is secure enough to store and fast enough to look up. */
export const digestOf = (token: string): string => hash('sha256', token, 'base64url')

const LONGEST_KEPT = 100
const digests = new Lru<string>('digests of tokens', (digest, secret) => 200 + digest.length + secret.length)

/** The digest of a secret that is presented with every request; cached. */
export function digestOfPresented(secret: string): string {
  const known = digests.get(secret)
  if (known) return known
  const digest = digestOf(secret)
  if (secret.length > LONGEST_KEPT) return digest
  digests.set(secret, digest)
  return digest
}

export function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(digestOf(a)), Buffer.from(digestOf(b)))
}

export interface Vault {
  seal(text: string): string
  open(sealed: string): string
  /** False for a value that another key has encrypted. */
  canOpen(sealed: string): boolean
  /** A code that only this instance can create for `text`; `purpose` prevents using a code for something else. */
  sign(purpose: string, text: string): string
}

export function vault(secret: Buffer): Vault {
  // Created once: creating it at each use takes longer than the rest.
  const key = createSecretKey(secret)
  const open = (sealed: string) => {
    const bytes = Buffer.from(sealed, 'base64url')
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
    decipher.setAuthTag(bytes.subarray(12, 28))
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8')
  }
  return {
    open,
    canOpen(sealed) {
      try {
        open(sealed)
        return true
      } catch {
        return false
      }
    },
    seal(text) {
      const iv = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, iv)
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url')
    },
    sign: (purpose, text) => createHmac('sha256', key).update(`${purpose}\0${text}`).digest('base64url'),
  }
}
