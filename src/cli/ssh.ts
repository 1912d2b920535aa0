/**
 * For machines whose OpenSSH serves git instead of the built-in server: sshd calls `ssh keys` to find the owner of a
 * key (AuthorizedKeysCommand), and runs `ssh serve` for the user of the key.
 */
import { variableOf } from '../config.ts'
import { onInstance } from './user.ts'
import type { Verb } from './verb.ts'

/** In the form of OpenSSH's `%f`. */
const FINGERPRINT = /^SHA256:[A-Za-z0-9+/]{43}$/

const keys: Verb = {
  summary: 'Print the authorized_keys line of a key, for the OpenSSH option AuthorizedKeysCommand',
  words: ['FINGERPRINT'],
  run: (call) =>
    onInstance(call, async (app) => {
      const [fingerprint = ''] = call.words
      if (!FINGERPRINT.test(fingerprint)) return
      const { findSshIdentity } = await import('../transport/ssh/identities.ts')
      const visitor = await findSshIdentity(app, fingerprint)
      if (!visitor) return
      // The shell that sshd starts does not have our settings, and its log output is shown to the client.
      const data = `${variableOf('data')}='${call.config.data.replaceAll("'", `'\\''`)}' ${variableOf('log')}=silent`
      const command = `${data} '${process.execPath}' '${process.argv[1]}' ssh serve ${fingerprint}`
      const [type, blob] = visitor.key.key.split(' ')
      console.log(`command="${command.replaceAll('"', '\\"')}",restrict ${type} ${blob}`)
    }),
}

const serve: Verb = {
  summary: 'Run the git command of an OpenSSH connection, called by the line that ssh keys prints',
  words: ['FINGERPRINT'],
  run: (call) =>
    onInstance(call, async (app) => {
      const { converse } = await import('../transport/ssh/conversation.ts')
      process.exitCode = await converse(app, {
        fingerprint: call.words[0] ?? '',
        line: process.env.SSH_ORIGINAL_COMMAND ?? null,
        protocol: process.env.GIT_PROTOCOL,
        input: process.stdin,
        output: process.stdout,
        errors: process.stderr,
      })
    }),
}

export const ssh: Record<string, Verb> = { 'ssh keys': keys, 'ssh serve': serve }
