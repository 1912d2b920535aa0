import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf, type Page, type PageWish } from '../../../api/pages.ts'
import { blankable, bool, text } from '../../../api/wire.ts'
import { today } from '../../../clock.ts'
import {
  LicenseEntity,
  TemplateEntity,
  TemplateSummaryEntity,
  presentLicense,
  presentTemplate,
  presentTemplateSummary,
} from './entity.ts'
import { license, listLicenses, listTemplates, templateOf, type TemplateKind } from './queries.ts'

const pageFrom = <T, R>(all: readonly T[], { offset, limit }: PageWish, present: (one: T) => R): Page<R> => ({
  items: all.slice(offset, offset + limit).map(present),
  total: all.length,
})

const listAt = (path: `/${string}`, summary: string) =>
  endpoint({
    method: 'GET',
    path,
    summary,
    allow: 'anyone',
    input: z.object({ popular: blankable(bool) }),
    output: pageOf(LicenseEntity),
    async handle({ input, page }) {
      const licenses = await listLicenses({ popular: input.popular ?? false })
      return pageFrom(licenses, page, (license) => presentLicense(license))
    },
  })

const getAt = (path: `/${string}`, summary: string) =>
  endpoint({
    method: 'GET',
    path,
    summary,
    on: license,
    allow: 'anyone',
    input: z.object({ project: text.nullish(), fullname: text.nullish() }),
    output: LicenseEntity,
    async handle({ app, viewer, subject, input: { project, fullname } }) {
      const year = today(app.clock).slice(0, 4)
      return presentLicense(subject, { year, project, fullname: fullname || viewer?.name })
    },
  })

export const listLicenseTemplates = listAt('/templates/licenses', 'List license templates')
export const getLicenseTemplate = getAt('/templates/licenses/:key', 'Get a license with its text filled in')

// A widely used client writes these with a capital.
export const listLicenseTemplatesCapital = listAt('/templates/Licenses', 'List license templates, as some clients ask')
export const getLicenseTemplateCapital = getAt('/templates/Licenses/:key', 'Get a license, as some clients ask')

const listOf = (kind: TemplateKind, summary: string) =>
  endpoint({
    method: 'GET',
    path: `/templates/${kind}`,
    summary,
    allow: 'anyone',
    output: pageOf(TemplateSummaryEntity),
    handle: async ({ page }) => pageFrom(await listTemplates(kind), page, presentTemplateSummary),
  })

const getOf = (kind: TemplateKind, noun: string, summary: string) =>
  endpoint({
    method: 'GET',
    path: `/templates/${kind}/:name`,
    summary,
    on: templateOf(kind, noun),
    allow: 'anyone',
    output: TemplateEntity,
    handle: async ({ subject }) => presentTemplate(subject),
  })

export const listGitignores = listOf('gitignores', 'List .gitignore templates')
export const getGitignore = getOf('gitignores', 'gitignore', 'Get a .gitignore template')
export const listCiFiles = listOf('gitlab_ci_ymls', 'List CI file templates')
export const getCiFile = getOf('gitlab_ci_ymls', 'gitlab_ci_yml', 'Get a CI file template')
export const listDockerfiles = listOf('dockerfiles', 'List Dockerfile templates')
export const getDockerfile = getOf('dockerfiles', 'dockerfile', 'Get a Dockerfile template')
