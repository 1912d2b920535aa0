/**
 * Flash messages: the result of an action, passed from the post to the page that follows it. The browser carries it in
 * a cookie: encrypted, since it may be a secret, and valid for one page, one session and one minute.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { MINUTE } from '../clock.ts'
import type { App } from '../context.ts'
import { cookie, cookieOf } from '../features/identity/sessions/cookies.ts'
import { browserSecret } from '../features/identity/sessions/forms.ts'

const COOKIE = '_service_told'
/** Tells it from other values encrypted with the same key. */
const PREFIX = 'told '
const KEPT_MS = MINUTE
/** Encrypted and with its name it stays below the 4,096 characters that browsers accept. */
const MOST_BYTES = 2800

export type FlashValues = Readonly<Record<string, string>>

export interface Flash {
  /**
   * Returns false if the values are too large for a cookie: then nothing is stored. `to` is the URL of the page that
   * shows them, by default the same page.
   */
  keep(values: FlashValues, to?: string): boolean
  /** The values for this page. The browser deletes the cookie. */
  take(): FlashValues
}

interface Stored {
  readonly values: FlashValues
  /** The session and the page it is for. */
  readonly mark: string
  readonly until: number
}

export function flashOf(app: App, request: FastifyRequest, reply: FastifyReply, address: string): Flash {
  const { vault, clock } = app
  const mark = (page = address) => vault.sign('flash', `${browserSecret(request) ?? ''} ${page}`)
  return {
    keep(values, to) {
      const kept: Stored = { values, mark: mark(to), until: clock.now().getTime() + KEPT_MS }
      const text = PREFIX + JSON.stringify(kept)
      if (Buffer.byteLength(text) > MOST_BYTES) return false
      reply.header('Set-Cookie', cookie(app, COOKIE, vault.seal(text), KEPT_MS / 1000))
      return true
    },
    take() {
      const sealed = cookieOf(request.headers.cookie, COOKIE)
      const text = sealed && vault.canOpen(sealed) ? vault.open(sealed) : ''
      if (!text.startsWith(PREFIX)) return {}
      const kept = JSON.parse(text.slice(PREFIX.length)) as Stored
      if (kept.mark !== mark() || kept.until <= clock.now().getTime()) return {}
      reply.header('Set-Cookie', cookie(app, COOKIE, '', 0))
      return kept.values
    },
  }
}
