/** Plain git with credentials of the first administrator over HTTP and SSH; a failure fails the test. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Gitlab } from '@gitbeaker/rest'
import { expect } from 'vitest'
import { newKey } from '../ssh.ts'
import type { workspace } from '../workspace.ts'
import { TOKEN } from './server.ts'

export async function signedInGit(place: Awaited<ReturnType<typeof workspace>>, api: Gitlab<false>) {
  const git = async (...args: string[]) => {
    const ended = await place.git(...args)
    expect(ended.code, `git ${args.join(' ')}\n${ended.stderr}`).toBe(0)
    return ended
  }
  const key = await newKey()
  await api.UserSSHKeys.create('laptop', key.public)
  const file = join(place.folder, 'key')
  await writeFile(file, key.private, { mode: 0o600 })
  const options = '-o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR'
  await git('config', '--global', 'core.sshCommand', `ssh -F none -i ${file} ${options}`)
  await git('config', '--global', 'credential.helper', `!printf 'username=root\\npassword=${TOKEN}\\n'; :`)
  return git
}
