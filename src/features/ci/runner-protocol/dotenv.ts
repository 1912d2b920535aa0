/** Variables that a job reports for those after it: lines `KEY=value`. */
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'

export interface DotenvVariable {
  readonly key: string
  readonly value: string
}

const MOST = { bytes: 5 * 1024, variables: 20 }
/** As it is sent. */
export const LARGEST_DOTENV = 64 * 1024
export const TOO_BIG = 'Dotenv Artifact Too Big'

const unpack = promisify(gunzip)

/** Or why they are refused. */
export async function dotenvIn(sent: Buffer, format: string): Promise<DotenvVariable[] | string> {
  if (sent.length > LARGEST_DOTENV) return TOO_BIG
  const isPacked = format === 'gzip'
  const text = isPacked ? await unpack(sent, { maxOutputLength: MOST.bytes + 1 }).catch(() => null) : sent
  if (!text) return `${TOO_BIG}, or not gzip`
  if (text.length > MOST.bytes) return `${TOO_BIG}. Maximum Allowable Size: ${MOST.bytes}`
  const found = new Map<string, string>()
  for (const line of text.toString('utf8').split(/\r?\n/)) {
    if (line.trim() === '') continue
    const [, key, value] = /^\s*(\w{1,255})=(.*)$/.exec(line) ?? []
    if (key === undefined || value === undefined || value.includes('\0')) return 'Invalid Format'
    found.set(key, unquoted(value.trim()))
  }
  if (found.size > MOST.variables) return `Dotenv files cannot have more than ${MOST.variables} variables`
  return Array.from(found, ([key, value]) => ({ key, value }))
}

const unquoted = (value: string) => /^(["'])(.*)\1$/.exec(value)?.[2] ?? value
