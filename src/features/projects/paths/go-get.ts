/** Answers the Go tool (`?go-get=1`): which repository contains a package. */
import type { FastifyRequest } from 'fastify'
import { readQuery } from '../../../api/input.ts'
import type { Gateway } from '../../../api/run.ts'
import type { PageContent } from '../../../api/server.ts'
import { html } from '../../../lib/text/html.ts'
import { SANDBOXED } from '../../../lib/net/file-headers.ts'
import { webViewer } from '../../identity/web-viewer.ts'
import { projectPolicy } from '../projects/policy.ts'
import { findProject, loadProjectSubject, pathWithNamespace } from '../projects/queries.ts'

/** The maximum depth of groups. */
const DEEPEST = 21

/** A hidden project gets the same answer as a missing one: the first two segments of the path. */
export async function goPage(
  gateway: Gateway,
  request: FastifyRequest,
  segments: readonly string[],
): Promise<PageContent | null> {
  if (segments.length < 2 || readQuery(request.raw.url!)['go-get'] !== '1') return null
  const path = (await findRoot(gateway, request, segments)) ?? segments.slice(0, 2).join('/')
  const { url } = gateway.app
  const content = `${url.replace(/^https?:\/\//, '')}/${path} git ${url}/${path}.git`
  const page = html`<!doctype html>
    <html>
      <head>
        <meta name="go-import" content="${content}" />
      </head>
    </html>`
  const headers = { 'Content-Type': 'text/html; charset=utf-8', ...SANDBOXED }
  return { headers, body: Buffer.from(String(page)) }
}

async function findRoot(
  gateway: Gateway,
  request: FastifyRequest,
  segments: readonly string[],
): Promise<string | null> {
  const { app } = gateway
  const viewer = await webViewer(gateway, request)
  for (let length = 2; length <= Math.min(segments.length, DEEPEST); length++) {
    const project = await findProject(app.db, segments.slice(0, length).join('/'))
    const subject = project && (await loadProjectSubject(app, project, viewer))
    if (subject && projectPolicy.read(subject)) return pathWithNamespace(subject.project, subject.namespace)
  }
  return null
}
