import type { App } from '../../../context.ts'
import { randomToken } from '../../../lib/crypto/secrets.ts'
import { uniqueViolation } from '../../../store/dialect.ts'
import { createUser } from './service.ts'

export interface SignIn {
  readonly username: string
  readonly password: string
}

/** Creates `root` on an instance without users. Null if users exist, or another process created `root` first. */
export async function createFirstAdministrator(app: App): Promise<SignIn | null> {
  const someone = await app.db.selectFrom('users').select('id').limit(1).executeTakeFirst()
  if (someone) return null
  const { rootEmail, rootPassword, rootToken } = app.config
  const signIn = { username: 'root', password: rootPassword ?? randomToken(16) }
  try {
    await createUser(app, {
      ...signIn,
      email: rootEmail,
      name: 'Administrator',
      admin: true,
      skip_confirmation: true,
      ...(rootToken && { private_token: rootToken }),
    })
    return signIn
  } catch (error) {
    if (uniqueViolation(error) || (error as { kind?: string }).kind === 'conflict') return null
    throw error
  }
}
