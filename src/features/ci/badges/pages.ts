import type { FastifyRequest } from 'fastify'
import { readQuery, type Raw } from '../../../api/input.ts'
import type { PageContent, ProjectPage } from '../../../api/server.ts'
import type { App } from '../../../context.ts'
import { webViewer } from '../../identity/web-viewer.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { findLatestRelease } from '../../repository/releases/queries.ts'
import { repositoryPolicy } from '../../repository/repositories/policy.ts'
import { loadRepositorySubject } from '../../repository/repositories/queries.ts'
import { ciPolicy } from '../pipelines/policy.ts'
import type { JobStatus } from '../jobs/model.ts'
import { coverageOfRef, statusOfRef } from './queries.ts'
import { badgeOf, type Badge } from './svg.ts'

/** `master/pipeline.svg`, `some/branch/coverage.svg`, `release.svg` */
export const badgePage: ProjectPage = {
  name: 'badges',
  async find(gateway, request, { id }, rest) {
    const { app } = gateway
    const project = await findProjectById(app.db, id)
    const viewer = project && (await webViewer(gateway, request))
    const subject = project && (await loadRepositorySubject(app, project, viewer))
    const options = { ref: rest.slice(0, -1).join('/'), query: readQuery(request.raw.url!) }
    const kind = rest.at(-1)
    if (!subject || !ciPolicy.read(subject)) return null
    if (kind === 'release.svg')
      return repositoryPolicy.download(subject) ? picture(await releaseBadge(app, id), request) : null
    if (options.ref === '' || !ciPolicy.readPipelines(subject)) return null
    if (kind === 'pipeline.svg' || kind === 'build.svg') return picture(await pipelineBadge(app, id, options), request)
    if (kind === 'coverage.svg') return picture(await coverageBadge(app, id, options), request)
    return null
  },
}

interface RequestContext {
  readonly ref: string
  readonly query: Raw
}

type Content = Pick<Badge, 'key' | 'value' | 'valueWidth' | 'colour'>

const KEY_WIDTH = 62
const GREY = '#9f9f9f'

const COLOURS: Partial<Record<JobStatus, string>> = {
  success: '#4c1',
  failed: '#e05d44',
  running: '#dfb317',
  pending: '#dfb317',
}

async function pipelineBadge(app: App, project: number, { ref, query }: RequestContext): Promise<Content> {
  const status = await statusOfRef(app, project, ref, { ignoreSkipped: query['ignore_skipped'] === 'true' })
  const value = status === 'success' ? 'passed' : (status?.replaceAll('_', ' ') ?? 'unknown')
  return { key: 'pipeline', value, valueWidth: 54, colour: (status && COLOURS[status]) ?? GREY }
}

const GRADES = [
  [95, '#4c1'],
  [90, '#a3c51c'],
  [75, '#dfb317'],
  [0, '#e05d44'],
] as const

async function coverageBadge(app: App, project: number, { ref, query }: RequestContext): Promise<Content> {
  const { job } = query
  const coverage = await coverageOfRef(app, project, ref, typeof job === 'string' && job !== '' ? job : null)
  if (coverage === null) return { key: 'coverage', value: 'unknown', valueWidth: 58, colour: GREY }
  const colour = GRADES.find(([least]) => coverage >= least)?.[1] ?? GREY
  return { key: 'coverage', value: `${Math.round(coverage)}%`, valueWidth: 36, colour }
}

const LONGEST_TAG = 50

async function releaseBadge(app: App, project: number): Promise<Content> {
  const tag = (await findLatestRelease(app, project))?.tag.slice(0, LONGEST_TAG) ?? null
  const valueWidth = tag === null ? 54 : Math.max(54, tag.length * 7 + 12)
  return { key: 'Latest Release', value: tag ?? 'none', valueWidth, colour: tag === null ? '#e05d44' : '#3076af' }
}

const LONGEST_KEY = 64
const WIDEST_KEY = 512

/** The client can set the text of the left half. */
function picture(content: Content, { raw }: FastifyRequest): PageContent {
  const { key_text: word, key_width: wide, style } = readQuery(raw.url!)
  const width = typeof wide === 'string' && /^\d{1,3}$/.test(wide) ? Number(wide) : 0
  const usual = content.key === 'Latest Release' ? 90 : KEY_WIDTH
  const body = badgeOf({
    ...content,
    key: typeof word === 'string' && word !== '' && word.length <= LONGEST_KEY ? word : content.key,
    keyWidth: width > 0 && width <= WIDEST_KEY ? width : usual,
    isFlat: style === 'flat-square',
  })
  return { headers: HEADERS, body: Buffer.from(body) }
}

const HEADERS = {
  'Content-Type': 'image/svg+xml',
  'Cache-Control': 'no-store, no-cache, must-revalidate',
  Pragma: 'no-cache',
  // The browser shows the badge as an image; opened as a document, the SVG runs no code.
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
}
