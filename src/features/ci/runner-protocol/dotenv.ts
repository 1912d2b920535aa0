/** Parses variables that a job reports for later jobs: lines of `KEY=value`. */
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { hasCode } from '../../../lib/files/system-errors.ts'

export interface DotenvVariable {
  readonly key: string
  readonly value: string
}

interface Most {
  readonly bytes: number
  readonly variables: number
}

/** The default limits, if the plan sets none. */
export const USUAL_DOTENV: Most = { bytes: 5 * 1024, variables: 20 }
/** The limit of an upload, whatever the plan allows. */
export const LARGEST_DOTENV = 5 * 1024 * 1024
export const tooBig = (bytes: number) => `Dotenv Artifact Too Big. Maximum Allowable Size: ${bytes}`

const unpack = promisify(gunzip)

/** Returns the variables, or the reason for a rejection. */
export async function dotenvIn(sent: Buffer, format: string, most: Most): Promise<DotenvVariable[] | string> {
  let text = sent
  try {
    if (format === 'gzip') text = await unpack(sent, { maxOutputLength: most.bytes + 1 })
  } catch (error) {
    return hasCode(error, 'ERR_BUFFER_TOO_LARGE') ? tooBig(most.bytes) : 'Dotenv Artifact is not gzip'
  }
  if (text.length > most.bytes) return tooBig(most.bytes)
  const found = new Map<string, string>()
  for (const line of text.toString('utf8').split(/\r?\n/)) {
    if (line.trim() === '') continue
    const [, key, value] = /^\s*(\w{1,255})=(.*)$/.exec(line) ?? []
    if (key === undefined || value === undefined || value.includes('\0')) return 'Invalid Format'
    found.set(key, unquoted(value.trim()))
  }
  if (found.size > most.variables) return `Dotenv files cannot have more than ${most.variables} variables`
  return Array.from(found, ([key, value]) => ({ key, value }))
}

const unquoted = (value: string) => /^(["'])(.*)\1$/.exec(value)?.[2] ?? value
