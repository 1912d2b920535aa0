import { z } from 'zod'
import { faultsIn, filled } from '../../../api/rules.ts'
import { invalid, type FieldErrors } from '../../../errors.ts'
import { parseSshPublicKey, type SshPublicKey } from '../../../lib/crypto/ssh-key.ts'
import { BLANK, tooLong } from '../../../lib/text/faults.ts'
import type { Settings } from '../../instance/settings/model.ts'

const LONGEST_KEY = 5000
const TYPES = ['rsa', 'dsa', 'ecdsa', 'ed25519'] as const
const FORBIDDEN = -1

/** Parses the pasted key. Throws a refusal that lists every error of the key and its title. */
export function readKey(input: { title: string; key: string }, settings: Settings): SshPublicKey {
  const text = input.key.replace(/[\r\n]/g, '').trim()
  const parsed = text.length > LONGEST_KEY ? null : parseSshPublicKey(text)
  const title = titleFaults(input.title)
  const key = parsed ? restrictionFaults(parsed, settings) : unreadableFaults(text, settings)
  if (parsed && title.length === 0 && key.length === 0) return parsed

  const faults: FieldErrors = {}
  if (title.length > 0) faults.title = title
  if (key.length > 0) faults.key = key
  if (!parsed) faults.fingerprint = ['cannot be generated']
  throw invalid(faults)
}

export const titleFaults = (title: string): string[] => faultsIn(filled(z.string(), 255), title)

function unreadableFaults(text: string, settings: Settings): string[] {
  if (text === '') return [BLANK]
  if (text.length > LONGEST_KEY) return [tooLong(LONGEST_KEY)]
  return ['is invalid', forbiddenType(settings)]
}

function restrictionFaults({ type, bits }: SshPublicKey, settings: Settings): string[] {
  const least = settings[`${type}_key_restriction`]
  if (least === FORBIDDEN) return [forbiddenType(settings)]
  return bits < least ? [`must be at least ${least} bits`] : []
}

function forbiddenType(settings: Settings): string {
  const allowed = TYPES.filter((type) => settings[`${type}_key_restriction`] !== FORBIDDEN)
  // Created here and not at module load: the first instance in a process takes 25 ms, which would slow down every
  // start.
  const inWords = new Intl.ListFormat('en', { type: 'disjunction' })
  return `type is forbidden. Must be ${inWords.format(allowed.map((type) => type.toUpperCase()))}`
}
