/**
 * Checks whether directory users are still in the directory: missing users are blocked, and returning users are
 * unblocked.
 */
import type { App, User } from '../../../context.ts'
import { DirectoryUnreachable } from '../../../directory/directory.ts'
import { Refusal } from '../../../errors.ts'
import { directoryIdentities, type DirectoryIdentity } from './identities.ts'
import { blockByDirectory, liftDirectoryBlock } from './state.ts'

/** Ignores users of no configured directory. */
export async function checkPresence(app: App, user: User): Promise<void> {
  const identities = await directoryIdentities(app, user)
  if (identities.length === 0) return
  if (await isPresent(app, identities)) await liftDirectoryBlock(app, user)
  else await blockUnlessLast(app, user)
}

async function isPresent(app: App, identities: readonly DirectoryIdentity[]): Promise<boolean> {
  for (const { provider, extern_uid } of identities) {
    const directory = app.directories.find((one) => one.provider === provider)
    if (await directory?.findPerson(extern_uid)) return true
  }
  return false
}

async function blockUnlessLast(app: App, user: User): Promise<void> {
  try {
    await blockByDirectory(app, user)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    app.log.warn({ part: 'directory', user_id: user.id }, 'the last administrator stays, against the directory')
  }
}

/**
 * An unreachable directory stops the work, and the next run starts over. The job does not fail: a failed job would end
 * as a dead letter, and no run would follow.
 */
export async function whileReachable(app: App, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (err) {
    if (!(err instanceof DirectoryUnreachable)) throw err
    app.log.warn({ part: 'directory', err }, 'the directory could not be asked; nothing changes until it can')
  }
}
