import type { FastifyRequest } from 'fastify'
import type { Gateway } from '../../../api/run.ts'
import type { PageContent, ProjectPage } from '../../../api/server.ts'
import { webViewer } from '../../identity/web-viewer.ts'
import { snippetPolicy } from './policy.ts'
import { findSnippetFile, isRef, findViewedSnippet } from './queries.ts'
import { rawHeaders } from './raw.ts'

export const snippetPage: ProjectPage = {
  name: 'snippets',
  find: (gateway, request, project, rest) => findRaw(gateway, request, rest, project.id),
}

/** `1/raw`, `1/raw/main/some/file.txt` */
export async function findRaw(
  gateway: Gateway,
  request: FastifyRequest,
  [id = '', raw, ref, ...path]: readonly string[],
  project?: number,
): Promise<PageContent | null> {
  if (raw !== 'raw' || !/^\d{1,15}$/.test(id)) return null
  if (ref !== undefined && (path.length === 0 || !isRef(ref))) return null
  const { app } = gateway
  const viewed = await findViewedSnippet(app, Number(id), await webViewer(gateway, request))
  if (!viewed || !snippetPolicy.read(viewed) || (project !== undefined && viewed.snippet.project_id !== project))
    return null
  const file = await findSnippetFile(app.db, viewed.snippet, ref === undefined ? undefined : path.join('/'))
  return file && { headers: rawHeaders(file), body: Buffer.from(file.content) }
}
