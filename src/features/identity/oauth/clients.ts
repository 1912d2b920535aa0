import type { FastifyRequest } from 'fastify'
import type { Raw } from '../../../api/input.ts'
import type { App } from '../../../context.ts'
import { digestOf, sameSecret } from '../../../lib/crypto/secrets.ts'
import { textOf } from '../sessions/forms.ts'
import { oauthRefusal } from './errors.ts'
import { findApplication, type Application } from './queries.ts'

interface VisibleClient {
  id: string
  secret: string
}

/** From HTTP Basic, or from `client_id` and `client_secret`; null if the request names no client. */
function visibleClient({ headers }: FastifyRequest, given: Raw): VisibleClient | null {
  const basic = /^basic +(\S+)\s*$/i.exec(headers.authorization ?? '')?.[1]
  if (!basic) {
    const id = textOf(given, 'client_id')
    return id ? { id, secret: textOf(given, 'client_secret') ?? '' } : null
  }
  const pair = Buffer.from(basic, 'base64').toString('utf8')
  const colon = pair.indexOf(':')
  return colon < 0 ? { id: pair, secret: '' } : { id: pair.slice(0, colon), secret: pair.slice(colon + 1) }
}

/**
 * The authenticated client; a public client has no secret to authenticate with. Null if the request names no client.
 */
export async function authenticateClient(app: App, request: FastifyRequest, given: Raw): Promise<Application | null> {
  const shown = visibleClient(request, given)
  if (!shown) return null
  const application = await findApplication(app.db, shown.id)
  if (!application) throw oauthRefusal('invalid_client')
  if (!application.confidential && shown.secret === '') return application
  if (sameSecret(digestOf(shown.secret), application.secret_digest)) return application
  throw oauthRefusal('invalid_client')
}
