/** Pipelines of a project, newest first, with filters by state and branch. */
import type { Listed } from '../../../api.ts'
import { CiTabs, PipelineRows, mayRun, type ListedPipeline, SubTabs } from '../../../components/CiParts.tsx'
import { Choice, Field } from '../../../components/Form.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { Empty, Pages } from '../../../components/lists.tsx'
import { below, projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare } from '../../../page.ts'
import { withQuery } from '../../../query.ts'

interface Data {
  pipelines: Listed<ListedPipeline[]>
}

const SCOPES = [
  ['', 'All'],
  ['running', 'Running'],
  ['pending', 'Pending'],
  ['finished', 'Finished'],
  ['branches', 'Branches'],
  ['tags', 'Tags'],
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
  title: () => 'Pipelines',
  live: ({ project }) => ({ path: `/projects/${project.id}/live`, events: ['pipeline.changed', 'pipeline.deleted'] }),
  View({ project, pipelines, query, address }) {
    const isFiltered = ['scope', 'status', 'source', 'ref'].some((name) => query.get(name))
    return (
      <>
        <CiTabs project={project} at="pipelines" />
        <div class="head ci-head">
          <h1>Pipelines</h1>
          {mayRun(project) && (
            <a class="button" data-kind="main" href={below(project, 'pipelines/new')}>
              <Icon name="plus" /> Run pipeline
            </a>
          )}
        </div>
        <SubTabs
          label="Filter"
          tabs={SCOPES.map(([scope, text]) => ({
            text,
            href: withQuery(address, { scope: scope || null }),
            isCurrent: (query.get('scope') ?? '') === scope,
          }))}
        />
        <form class="ci-filters" role="search" aria-label="Pipelines">
          {query.get('scope') && <input type="hidden" name="scope" value={query.get('scope')!} />}
          <Field name="ref" label="Branch or tag" value={query.get('ref')} isQuiet placeholder="Branch or tag" />
          <Choice
            name="status"
            label="Status"
            isQuiet
            value={query.get('status')}
            options={[['', 'Any status'], ...STATES.map((one) => [one, one] as const)]}
          />
          <Choice
            name="source"
            label="Source"
            isQuiet
            value={query.get('source')}
            options={[['', 'Any source'], ...SOURCES.map((one) => [one, one.replaceAll('_', ' ')] as const)]}
          />
          <button class="button">Filter</button>
        </form>
        {pipelines.items.length > 0 ? (
          <PipelineRows project={project} pipelines={pipelines.items} />
        ) : (
          <Empty title={isFiltered ? 'No matching pipelines' : 'No pipelines yet'}>
            {isFiltered ? (
              <p>
                <a href={below(project, 'pipelines')}>Show all</a>
              </p>
            ) : (
              <p>
                Add a <code>.gitlab-ci.yml</code> file to run pipelines on push.{' '}
                {mayRun(project) && <a href={below(project, 'ci/editor')}>Open the pipeline editor</a>}
              </p>
            )}
          </Empty>
        )}
        <Pages of={pipelines} />
      </>
    )
  },
})
