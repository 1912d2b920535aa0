import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { blankable, entity, filledText, int } from '../../../api/wire.ts'
import { forbidden } from '../../../errors.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import { avatarUrl, gravatarUrl } from '../users/entity.ts'
import { findUserByLogin } from '../users/queries.ts'

const LARGEST = 2048

/**
 * Only administrators learn which account an address belongs to. Other callers get the avatar that is derived from the
 * address alone.
 */
export const get = endpoint({
  method: 'GET',
  path: '/avatar',
  summary: 'Get the address of the picture that belongs to an email',
  by: 'visitor',
  allow: 'anyone',
  alsoAsks: ['see public records, for visitors'],
  input: z.object({ email: filledText, size: blankable(int.pipe(z.int().min(1).max(LARGEST))) }),
  output: entity({ avatar_url: z.string().nullable() }).meta({ id: 'Avatar' }),
  async handle({ app, viewer, input }) {
    const { gravatar_enabled: gravatar, restricted_visibility_levels: restricted } = await currentSettings(app)
    if (!viewer && restricted.includes('public')) throw forbidden()
    const email = input.email.trim().toLowerCase()
    const own = viewer?.email === email ? viewer : null
    const user = viewer?.admin && email.includes('@') ? await findUserByLogin(app.db, email) : own
    const size = input.size ?? undefined
    if (user) return { avatar_url: avatarUrl(user, { url: app.url, gravatar }, size) }
    return { avatar_url: gravatar ? gravatarUrl(email, size) : null }
  },
})
