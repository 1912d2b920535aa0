/** The pipelines of a merge request's commits. */
import type { Listed, Records } from '../../../../api.ts'
import { ActButton } from '../../../../components/Form.tsx'
import { Icon } from '../../../../components/Icon.tsx'
import { State } from '../../../../components/State.tsx'
import { Time } from '../../../../components/Time.tsx'
import { Empty, Pages, Row, Rows } from '../../../../components/lists.tsx'
import { below, projectFrame, type InProject } from '../../../../layout/project.tsx'
import { page as declare } from '../../../../page.ts'
import { planActions, stateActions } from '../actions.ts'
import { Head, liveOf, loadOne, requestParams, type InRequest } from '../Head.tsx'
import { rich } from '../../../../rich.ts'
import * as common from '../../../../texts/common.ts'
import * as t from '../../../../texts/merge-requests.ts'

interface Data extends InRequest {
  pipelines: Listed<Records['ListedPipeline'][]>
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  signedIn: true,
  load: (request) => ({
    one: loadOne(request),
    pipelines: request.api.list('/projects/{id}/merge_requests/{merge_request_iid}/pipelines', {
      ...requestParams(request),
      page: Number(request.query.get('page')) || 1,
      per_page: 30,
    }),
  }),
  title: ({ one }) => t.pipelinesTitle(one.title, one.iid),
  actions: { ...stateActions, ...planActions },
  live: ({ one }) => liveOf(one),
  View: ({ one, project, pipelines }) => {
    const mayRun = project.can.run && one.state === 'opened'
    return (
      <>
        <Head one={one} project={project} tab="pipelines" />
        {mayRun && (
          <p>
            <ActButton action="runPipeline">
              <Icon name="pipeline" /> {common.runPipeline}
            </ActButton>
          </p>
        )}
        {pipelines.items.length === 0 ? (
          <Empty title={t.noPipelines}>
            <p>{rich(t.addGitlabCiYml, { code: (text) => <code>{text}</code> })}</p>
          </Empty>
        ) : (
          <Rows label={common.pipelines}>
            {pipelines.items.map((pipeline) => (
              <Row
                key={pipeline.id}
                lead={<State of={pipeline.status} isShort />}
                title={<a href={below(project, `pipelines/${pipeline.id}`)}>{t.pipelineNumber(pipeline.id)}</a>}
                facts={rich(t.shaOfRefBySourceTime, {
                  sha: <code>{pipeline.sha.slice(0, 8)}</code>,
                  ref: pipeline.ref,
                  source: pipeline.source.replaceAll('_', ' '),
                  time: <Time at={pipeline.created_at} />,
                })}
                aside={<State of={pipeline.status} />}
              />
            ))}
          </Rows>
        )}
        <Pages of={pipelines} />
      </>
    )
  },
})
