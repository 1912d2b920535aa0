/**
 * CSRF protection of forms. The page contains a code derived from a cookie of the browser: its session, or a random
 * cookie before a session exists. Another site can neither read nor create the code.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { send, sendRefusal } from '../../../api/web-answers.ts'
import { sessionCookie } from '../../../api/credentials.ts'
import { STRANGERS_BODY, assertPlain, readBody, readQuery, type Raw } from '../../../api/input.ts'
import type { Gateway } from '../../../api/run.ts'
import type { App } from '../../../context.ts'
import { readOnlyInstance } from '../../../errors.ts'
import { html } from '../../../lib/text/html.ts'
import { randomHex, sameSecret } from '../../../lib/crypto/secrets.ts'
import { sendPage } from '../page.ts'
import * as t from '../texts.ts'
import { cookie, cookieOf } from './cookies.ts'

const VISIT_COOKIE = '_service_visit'

/** Reads a form or JSON. Fields in `user[…]` count as if they were at the top level. */
export async function readForm({ spool }: Gateway, request: FastifyRequest): Promise<Raw> {
  const { fields, discard } = await readBody(request.raw, spool, STRANGERS_BODY)
  await discard()
  const { user } = fields
  const form = typeof user === 'object' && user !== null && !Array.isArray(user) ? { ...fields, ...user } : fields
  assertPlain(form)
  return form
}

/** The query of a page, with the same limits as a form. */
export function queryOf({ raw }: FastifyRequest): Raw {
  const query = readQuery(raw.url!)
  assertPlain(query)
  return query
}

/** A single text; null if the value is an array or an object. */
export function textOf(form: Raw, name: string): string | null {
  const value = form[name]
  return typeof value === 'string' ? value : null
}

export const isJson = (request: FastifyRequest): boolean =>
  /^application\/json/i.test(request.headers['content-type'] ?? request.headers.accept ?? '')

export const csrfToken = (app: App, secret: string): string => app.vault.sign('csrf', secret)

export const provesOrigin = (app: App, secret: string, proof: string): boolean =>
  sameSecret(proof, csrfToken(app, secret))

/** A secret that only this browser has: its session cookie, or the random cookie from before a session. */
export const browserSecret = ({ headers }: FastifyRequest): string | null =>
  sessionCookie(headers.cookie) ?? cookieOf(headers.cookie, VISIT_COOKIE)

/** The CSRF code for the form that is about to be sent. Sets a random cookie if the browser has none yet. */
export function formToken(app: App, request: FastifyRequest, reply: FastifyReply): string {
  const known = browserSecret(request)
  if (known) return csrfToken(app, known)
  const pageRequest = randomHex()
  reply.header('Set-Cookie', cookie(app, VISIT_COOKIE, pageRequest))
  return csrfToken(app, pageRequest)
}

export const tokenField = (token: string) => html`<input type="hidden" name="authenticity_token" value="${token}" />`

export function isOwnForm(app: App, request: FastifyRequest, form: Raw): boolean {
  const { 'x-csrf-token': header, 'sec-fetch-site': site = 'same-origin' } = request.headers
  const proof = header ?? form.authenticity_token
  const secret = browserSecret(request)
  // If the browser sends the header, this also rejects a page of a sibling host that set our cookies itself.
  if (site !== 'same-origin' && site !== 'none') return false
  return secret !== null && typeof proof === 'string' && provesOrigin(app, secret, proof)
}

export type FormHandler = (form: Raw, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

function refuseReadOnly(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (isJson(request)) return sendRefusal(request, reply, readOnlyInstance())
  return sendPage(reply, 403, { title: t.readOnly, body: html`<p>${t.nothingCanBeChanged}</p>` })
}

/** Registers a route that accepts posts from our own pages only. */
export function onForm(
  server: FastifyInstance,
  gateway: Gateway,
  url: string,
  handle: FormHandler,
  { method = 'POST', readsOnly = false }: { method?: string; readsOnly?: boolean } = {},
): void {
  server.route({
    method,
    url,
    // Refused below, with a page.
    config: { readsOnly: true },
    async handler(request, reply) {
      if (gateway.app.config.readOnly && !readsOnly) return refuseReadOnly(request, reply)
      const form = await readForm(gateway, request)
      if (isOwnForm(gateway.app, request, form)) return handle(form, request, reply)
      if (isJson(request)) return send(request, reply, 403, { message: t.formExpired })
      return sendPage(reply, 403, { title: t.retry, body: html`<p>${t.formExpired}</p>` })
    },
  })
}

/** The same for forms that sign in or out, which are also served in read-only mode. */
export const onSignInForm = (
  server: FastifyInstance,
  gateway: Gateway,
  url: string,
  handle: FormHandler,
  method?: string,
): void => onForm(server, gateway, url, handle, { method, readsOnly: true })
