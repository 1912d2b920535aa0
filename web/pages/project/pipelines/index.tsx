/** Pipelines of a project, newest first, with filters by state and branch. */
import type { Listed } from '../../../api.ts'
import { CiTabs, PipelineRows, type ListedPipeline, SubTabs } from '../../../components/CiParts.tsx'
import { Choice, Field } from '../../../components/Form.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { Empty, Pages } from '../../../components/lists.tsx'
import { below, projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare } from '../../../page.ts'
import { withQuery } from '../../../query.ts'
import { rich } from '../../../rich.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/ci.ts'

interface Data {
  pipelines: Listed<ListedPipeline[]>
}

const SCOPES = [
  ['', common.all],
  ['running', common.running],
  ['pending', common.pending],
  ['finished', t.finished],
  ['branches', common.branches],
  ['tags', common.tags],
] as const

const STATES = [
  'success',
  'failed',
  'running',
  'pending',
  'created',
  'canceled',
  'skipped',
  'manual',
  'scheduled',
] as const
const SOURCES = ['push', 'web', 'api', 'trigger', 'schedule', 'external', 'pipeline', 'merge_request_event'] as const

const oneOf = <T extends string>(known: readonly T[], given: string | null): T | undefined =>
  known.find((one) => one === given)

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load({ api, params, query }) {
    const scope = oneOf(['running', 'pending', 'finished', 'branches', 'tags'] as const, query.get('scope'))
    return {
      pipelines: api.list('/projects/{id}/pipelines', {
        id: params.id!,
        scope,
        status: oneOf(STATES, query.get('status')),
        source: oneOf(SOURCES, query.get('source')),
        ref: query.get('ref') || undefined,
        page: Number(query.get('page')) || 1,
        per_page: 20,
      }),
    }
  },
  title: () => common.pipelines,
  live: ({ project }) => ({ path: `/projects/${project.id}/live`, events: ['pipeline.changed', 'pipeline.deleted'] }),
  View({ project, pipelines, query, address }) {
    const isFiltered = ['scope', 'status', 'source', 'ref'].some((name) => query.get(name))
    return (
      <>
        <CiTabs project={project} at="pipelines" />
        <div class="head ci-head">
          <h1>{common.pipelines}</h1>
          {project.can.run && (
            <a class="button" data-kind="main" href={below(project, 'pipelines/new')}>
              <Icon name="plus" /> {common.runPipeline}
            </a>
          )}
        </div>
        <SubTabs
          label={common.filter}
          tabs={SCOPES.map(([scope, text]) => ({
            text,
            href: withQuery(address, { scope: scope || null }),
            isCurrent: (query.get('scope') ?? '') === scope,
          }))}
        />
        <form class="ci-filters" role="search" aria-label={common.pipelines}>
          {query.get('scope') && <input type="hidden" name="scope" value={query.get('scope')!} />}
          <Field name="ref" label={t.branchOrTag} value={query.get('ref')} isQuiet placeholder={t.branchOrTag} />
          <Choice
            name="status"
            label={common.status}
            isQuiet
            value={query.get('status')}
            options={[['', t.anyStatus], ...STATES.map((one) => [one, one] as const)]}
          />
          <Choice
            name="source"
            label={common.source}
            isQuiet
            value={query.get('source')}
            options={[['', t.anySource], ...SOURCES.map((one) => [one, one.replaceAll('_', ' ')] as const)]}
          />
          <button class="button">{common.filter}</button>
        </form>
        {pipelines.items.length > 0 ? (
          <PipelineRows project={project} pipelines={pipelines.items} />
        ) : (
          <Empty title={isFiltered ? t.noMatchingPipelines : t.noPipelinesYet}>
            {isFiltered ? (
              <p>
                <a href={below(project, 'pipelines')}>{t.showAll}</a>
              </p>
            ) : (
              <p>
                {rich(t.addGitlabCiYmlFile, { code: (text) => <code>{text}</code> })}{' '}
                {project.can.run && <a href={below(project, 'ci/editor')}>{t.openPipelineEditor}</a>}
              </p>
            )}
          </Empty>
        )}
        <Pages of={pipelines} />
      </>
    )
  },
})
