/** A passkey device for tests: a key, a use counter, and signatures. */
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'
import { isoCBOR } from '@simplewebauthn/server/helpers'

const PRESENT = 0x01
const VERIFIED = 0x04
const HAS_KEY = 0x40

interface RequestContext {
  readonly challenge: string
}

const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest()

export class Authenticator {
  readonly id = randomBytes(16)
  counter = 0
  /** Whether it verifies its user. */
  isVerifying = true
  origin: string
  readonly #key: KeyObject
  readonly #publicKey: Uint8Array

  constructor(origin: string) {
    this.origin = origin
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const { x, y } = publicKey.export({ format: 'jwk' })
    this.#key = privateKey
    const coordinate = (text?: string) => new Uint8Array(Buffer.from(text!, 'base64url'))
    this.#publicKey = isoCBOR.encode(
      new Map<number, number | Uint8Array<ArrayBuffer>>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, coordinate(x)],
        [-3, coordinate(y)],
      ]),
    )
  }

  #data(flags: number): Buffer {
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(this.counter)
    const verified = this.isVerifying ? VERIFIED : 0
    return Buffer.concat([sha256(new URL(this.origin).hostname), Buffer.of(flags | PRESENT | verified), counter])
  }

  #client(type: string, { challenge }: RequestContext): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin: this.origin, crossOrigin: false }))
  }

  #named(response: Record<string, string | string[]>) {
    const id = this.id.toString('base64url')
    return { id, rawId: id, type: 'public-key' as const, response }
  }

  create(asked: RequestContext) {
    const length = Buffer.alloc(2)
    length.writeUInt16BE(this.id.length)
    const credential = Buffer.concat([Buffer.alloc(16), length, this.id, this.#publicKey])
    const authData = new Uint8Array(Buffer.concat([this.#data(HAS_KEY), credential]))
    const attestation = isoCBOR.encode(
      new Map<string, unknown>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', authData],
      ]) as never,
    )
    return this.#named({
      clientDataJSON: this.#client('webauthn.create', asked).toString('base64url'),
      attestationObject: Buffer.from(attestation).toString('base64url'),
      transports: ['internal'],
    })
  }

  get(asked: RequestContext) {
    this.counter++
    const data = this.#data(0)
    const client = this.#client('webauthn.get', asked)
    const signature = sign('sha256', Buffer.concat([data, sha256(client)]), this.#key)
    return this.#named({
      clientDataJSON: client.toString('base64url'),
      authenticatorData: data.toString('base64url'),
      signature: signature.toString('base64url'),
    })
  }
}
