/**
 * Creates new recovery codes for a user who has lost the device and the codes, but not the key: `ssh git@host
 * 2fa_recovery_codes`.
 */
import type { Readable, Writable } from 'node:stream'
import type { App } from '../../context.ts'
import { Refusal } from '../../errors.ts'
import { renewRecoveryCodesByKey } from '../../features/identity/second-factor/service.ts'
import { personOf, type Principal } from '../principal.ts'

const LONGEST_ANSWER = 100

const QUESTION = `Are you sure you want to generate new two-factor recovery codes?
Any existing recovery codes you saved will be invalidated. (yes/no)
`
const KEPT = '\nNew recovery codes have *not* been generated. Existing codes will remain valid.\n'
const FAILED = 'An error occurred while trying to generate new recovery codes.'
const message = (codes: readonly string[]) => `
Your two-factor authentication recovery codes are:

${codes.join('\n')}

During sign in, use one of the codes above when prompted for
your two-factor code. Then, visit your Profile Settings and add
a new device so you do not lose access to your account again.
`

export async function renewCodes(
  app: App,
  principal: Principal,
  { input, output }: { input: Readable; output: Writable },
): Promise<number> {
  output.write(QUESTION)
  if ((await firstLine(input)).trim() !== 'yes') {
    output.write(KEPT)
    return 0
  }
  const user = personOf(principal)
  if (!user) throw new Refusal('forbidden', `${FAILED} Could not find a user for the given key`)
  if (!user.two_factor_enabled)
    throw new Refusal('forbidden', `${FAILED} Two-factor authentication is not enabled for this user`)
  output.write(message(await renewRecoveryCodesByKey(app, user)))
  return 0
}

async function firstLine(input: Readable): Promise<string> {
  let text = ''
  for await (const chunk of input) {
    text += String(chunk)
    if (text.includes('\n') || text.length > LONGEST_ANSWER) break
  }
  return text.split('\n', 1)[0]!
}
