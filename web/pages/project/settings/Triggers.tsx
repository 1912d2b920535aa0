/** Trigger tokens, which start pipelines from outside. */
import type { Records } from '../../../api.ts'
import { ActButton, Button, Field, Form } from '../../../components/Form.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { Time } from '../../../components/Time.tsx'
import { Row, Rows } from '../../../components/lists.tsx'
import type { Project } from '../../../layout/project.tsx'
import { text, type Act, type Me } from '../../../page.ts'
import { rich } from '../../../rich.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/ci.ts'

type Trigger = Records['Trigger']

interface TriggersProps {
  triggers: readonly Trigger[]
  project: Project
  me: Me | null
}

export const Triggers = ({ triggers, project, me }: TriggersProps) => (
  <section id="triggers">
    <h2>{t.triggerTokens}</h2>
    {triggers.length === 0 ? (
      <p class="quiet">{t.aTriggerTokenLetsAnother}</p>
    ) : (
      <Rows label={t.triggerTokens}>
        {triggers.map((one) => (
          <TriggerRow of={one} me={me} key={one.id} />
        ))}
      </Rows>
    )}
    <details class="card ci-adding">
      <summary>{t.newTriggerToken}</summary>
      <Form action="addTrigger" resets>
        <Field name="description" label={common.description} required />
        <Button kind="main">{t.createTriggerToken}</Button>
      </Form>
      <p class="quiet">{t.example}</p>
      <pre tabIndex={0}>
        {`curl -X POST -F token=TOKEN -F ref=${project.default_branch ?? 'main'} ${apiOf(project)}/trigger/pipeline`}
      </pre>
    </details>
  </section>
)

const apiOf = ({ id, web_url, path_with_namespace }: Project) =>
  `${web_url.slice(0, -path_with_namespace.length - 1)}/api/v4/projects/${id}`

function TriggerRow({ of, me }: { of: Trigger; me: Me | null }) {
  const isMine = me !== null && of.owner?.id === me.id
  const about = { fields: { trigger: of.id }, id: `trigger-${of.id}` }
  return (
    <Row
      lead={<Icon name="lock" />}
      title={of.description}
      facts={
        <>
          <code>{of.token}</code> {of.owner && t.byName(of.owner.name)}{' '}
          {of.last_used ? rich(t.lastUsedTime, { time: <Time at={of.last_used} /> }) : common.neverUsed}
        </>
      }
      aside={
        <div class="row">
          {!isMine && (
            <ActButton action="ownTrigger" label={t.takeOwnershipDescription(of.description)} {...about}>
              {' '}
              {t.takeOwnership}{' '}
            </ActButton>
          )}
          <ActButton
            action="removeTrigger"
            kind="danger"
            label={t.deleteName(of.description)}
            confirm={t.deleteTriggerToken(of.description)}
            {...about}
          >
            {common.deleteLabel}
          </ActButton>
        </div>
      }
    />
  )
}

const triggerOf = ({ params, form }: Act) => ({ id: params.id!, trigger_id: text(form, 'trigger') })

export const triggerActions = {
  async addTrigger({ api, params, form }: Act) {
    await api.post('/projects/{id}/triggers', { id: params.id!, description: text(form, 'description') })
  },
  async ownTrigger(act: Act) {
    await act.api.post('/projects/{id}/triggers/{trigger_id}/take_ownership', triggerOf(act))
  },
  async removeTrigger(act: Act) {
    await act.api.delete('/projects/{id}/triggers/{trigger_id}', triggerOf(act))
  },
} as const
