import { HOUR } from '../../../clock.ts'
import { job, type App } from '../../../context.ts'
import { enqueue } from '../../../jobs/queue.ts'

/** Pictures are kept by their content, so two people may share one: it goes when the last of them has left it. */
export const discardAvatar = job<{ digest: string }>('users.discard_avatar', async (app, { digest }) => {
  const user = await app.db.selectFrom('users').select('id').where('avatar_digest', '=', digest).executeTakeFirst()
  if (!user) await app.blobs.remove(digest)
})

/** Not at once: somebody may be uploading the same picture right now. */
export async function leaveAvatar(app: App, digest: string | null): Promise<void> {
  if (digest) await enqueue(app, discardAvatar, { digest }, { delay: HOUR })
}
