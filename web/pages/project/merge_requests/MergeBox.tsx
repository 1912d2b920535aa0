/**
 * Whether the merge request can be merged: every check, its state and who can resolve it, with the actions to do so.
 */
import type { ComponentChildren } from 'preact'
import type { Records } from '../../../api.ts'
import { Person } from '../../../components/Avatar.tsx'
import { ActButton, Button, Field, Form, Switch } from '../../../components/Form.tsx'
import { Icon, type IconName } from '../../../components/Icon.tsx'
import { Faces } from '../../../components/MergeRequests.tsx'
import { State } from '../../../components/State.tsx'
import { Time } from '../../../components/Time.tsx'
import { below, type Project } from '../../../layout/project.tsx'
import type { Me } from '../../../page.ts'
import type { Detail } from './Head.tsx'
import { rich } from '../../../rich.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/merge-requests.ts'
import './MergeBox.css'

type Verdict = Records['Mergeability']
type Gate = Verdict['gates'][number]

const GATES: Record<Gate['name'], string> = {
  open: common.open,
  draft: t.notDraft,
  dependencies: t.dependenciesMerged,
  changes_requested: t.noChangesRequested,
  discussions: t.threadsResolved,
  approvals: t.approved,
  pipeline: t.pipelinePassed,
  commits: t.hasCommits,
  conflict: t.noConflicts,
  rebase: t.upToDateWithTarget,
  rights: t.youCanMerge,
}

/** Roles that can resolve a failed check. The contract calls maintainers by an older name. */
const RESOLVERS: Record<string, string> = {
  author: t.theAuthor,
  developers: t.aDeveloper,
  approvers: t.anApprover,
  reviewers: t.aReviewer,
  masters: t.aMaintainer,
  pipeline: t.aPassedPipeline,
}

/** Checks that no role can resolve. */
const UNRESOLVED: Record<string, string> = {
  server: t.checkingThisTakesMoment,
  nobody: t.cannotBeResolved,
}

const LOOKS: Record<Gate['state'], readonly [tone: string, icon: IconName, word: string]> = {
  passed: ['good', 'check', common.passed],
  blocked: ['bad', 'cross', common.blocked],
  waiting: ['busy', 'clock', common.pending],
  off: ['idle', 'skipped', t.notRequiredState],
}

interface MergeBoxProps {
  one: Detail
  project: Project
  verdict: Verdict
  approvals: Records['MergeRequestApprovals']
  me: Me | null
}

export function MergeBox(props: MergeBoxProps) {
  const { one, verdict } = props
  const bars = verdict.gates.filter(({ state }) => state === 'blocked' || state === 'waiting')
  const others = verdict.gates.filter((gate) => !bars.includes(gate))
  const isOpen = one.state === 'opened'
  return (
    <section class="merge-box" data-state={toneOf(props, bars)} aria-label={t.merge}>
      <header>
        <Headline {...props} bars={bars} />
      </header>
      {one.merge_error && isOpen && (
        <p class="fault" role="status">
          {one.merge_error}
        </p>
      )}
      {isOpen && (
        <>
          {one.head_pipeline && <PipelineLine {...props} />}
          <Approvals {...props} />
          <ul class="gates" aria-label={t.mergeChecks}>
            {bars.map((gate) => (
              <GateRow gate={gate} key={gate.name}>
                <Remedy {...props} gate={gate} />
              </GateRow>
            ))}
          </ul>
          <details class="gates-passed">
            <summary>{t.checksPassed(others.filter(({ state }) => state === 'passed').length)}</summary>
            <ul class="gates" aria-label={t.passedMergeChecks}>
              {others.map((gate) => (
                <GateRow gate={gate} key={gate.name} />
              ))}
            </ul>
          </details>
          <Accept {...props} bars={bars} />
        </>
      )}
    </section>
  )
}

interface WithBars extends MergeBoxProps {
  bars: readonly Gate[]
}

function toneOf({ one }: MergeBoxProps, bars: readonly Gate[]): string {
  if (one.state !== 'opened') return one.state
  if (one.merge_when_pipeline_succeeds) return 'waiting'
  return bars.length === 0 ? 'ready' : bars.every(({ state }) => state === 'waiting') ? 'waiting' : 'blocked'
}

function Headline({ one, bars, project }: WithBars) {
  if (one.state === 'merged')
    return (
      <h2>
        <Icon name="branch" /> {common.merged}
        {one.merged_by && <> {rich(t.byPerson, { person: <Person of={one.merged_by} /> })}</>}{' '}
        {one.merged_at && <Time at={one.merged_at} />}
        {(one.merge_commit_sha ?? one.squash_commit_sha) && (
          <>
            {' '}
            {rich(t.asLink, {
              link: (
                <a href={below(project, `commit/${one.merge_commit_sha ?? one.squash_commit_sha}`)}>
                  <code>{(one.merge_commit_sha ?? one.squash_commit_sha)!.slice(0, 8)}</code>
                </a>
              ),
            })}
          </>
        )}
      </h2>
    )
  if (one.state === 'closed')
    return (
      <h2>
        <Icon name="cross" /> {t.closedWithoutMerging}
        {one.closed_by && <> {rich(t.byPerson, { person: <Person of={one.closed_by} /> })}</>}{' '}
        {one.closed_at && <Time at={one.closed_at} />}
      </h2>
    )
  if (one.merge_when_pipeline_succeeds)
    return (
      <h2>
        <Icon name="clock" /> {t.setToAutoMergeWhen}
        {one.merge_user && rich(t.setByPerson, { person: <Person of={one.merge_user} /> })}
      </h2>
    )
  if (bars.length === 0)
    return (
      <h2>
        <Icon name="check" /> {t.readyToMerge}
      </h2>
    )
  const failed = bars.filter(({ state }) => state === 'blocked').length
  const isWaiting = failed === 0
  return (
    <h2>
      <Icon name={isWaiting ? 'clock' : 'cross'} /> {isWaiting ? t.mergePending(bars.length) : t.mergeBlocked(failed)}
    </h2>
  )
}

function GateRow({ gate, children }: { gate: Gate; children?: ComponentChildren }) {
  const [tone, icon, word] = LOOKS[gate.state]
  const resolvers = (gate.lifted_by as readonly string[]).flatMap((name) => RESOLVERS[name] ?? [])
  const [unresolved] = gate.lifted_by.flatMap((name) => UNRESOLVED[name] ?? [])
  return (
    <li data-gate={gate.name} data-state={gate.state}>
      <span class="state" data-tone={tone} title={word}>
        <Icon name={icon} />
        <span class="spoken">{word}</span>
      </span>
      <div class="gate-text">
        <strong>{gate.reason ?? GATES[gate.name]}</strong>{' '}
        <span class="quiet">
          {gate.state === 'off' && t.notRequired}
          {resolvers.length > 0 ? t.canResolveThis(capitalized(listed(resolvers))) : unresolved}
        </span>
        {children}
      </div>
    </li>
  )
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

const listed = (names: readonly string[]) =>
  names.length < 2 ? names.join('') : t.namesOr(names.slice(0, -1).join(', '), names.at(-1)!)

/** The button next to a failed check that resolves it, for users who may do it. */
function Remedy({ gate, one, verdict }: MergeBoxProps & { gate: Gate }) {
  switch (gate.name) {
    case 'draft':
      return one.can.update ? (
        <div>
          <ActButton action="ready" id="gate">
            {t.markAsReady}
          </ActButton>
        </div>
      ) : null
    case 'rebase':
      return one.can.update ? <Rebase one={one} /> : null
    case 'conflict':
      return verdict.conflicts.length > 0 ? (
        <ul class="gate-files">
          {verdict.conflicts.slice(0, 20).map((path) => (
            <li key={path}>
              <code>{path}</code>
            </li>
          ))}
          {verdict.conflicts.length > 20 && <li>{t.andMore(verdict.conflicts.length - 20)}</li>}
        </ul>
      ) : null
    case 'discussions':
      return (
        <p>
          <a href="#conversation">{t.goToThreads}</a>
        </p>
      )
    case 'dependencies':
      return (
        <p>
          <a href="#dependencies">{t.viewDependencies}</a>
        </p>
      )
    default:
      return null
  }
}

function Rebase({ one }: { one: Detail }) {
  if (one.rebase_in_progress) return <p class="quiet">{t.rebasing}</p>
  return (
    <div class="row">
      <ActButton action="rebase">{t.rebase}</ActButton>
      {one.stack.children.length > 0 && (
        <ActButton action="rebase" id="stack" fields={{ stack: 'true' }}>
          {t.rebaseStack}
        </ActButton>
      )}
    </div>
  )
}

function PipelineLine({ one, project }: MergeBoxProps) {
  const pipeline = one.head_pipeline!
  return (
    <p class="merge-line">
      <State of={pipeline.status} />{' '}
      <a href={below(project, `pipelines/${pipeline.id}`)}>{t.pipelineNumber(pipeline.id)}</a>{' '}
      <span class="quiet">{rich(t.forSha, { sha: <code>{pipeline.sha.slice(0, 8)}</code> })}</span>
    </p>
  )
}

function Approvals({ one, approvals }: MergeBoxProps) {
  const people = approvals.approved_by.map(({ user }) => user)
  const { approvals_required: required, approvals_left: left } = approvals
  return (
    <div class="merge-line">
      {approvals.user_can_approve && !approvals.user_has_approved && (
        <Form action="approve" class="inline">
          <input type="hidden" name="sha" value={one.sha ?? ''} />
          {approvals.require_password_to_approve && (
            <input
              type="password"
              name="approval_password"
              required
              aria-label={t.yourPassword}
              placeholder={t.yourPassword}
              autocomplete="current-password"
            />
          )}
          <Button>
            <Icon name="check" /> {common.approve}
          </Button>
        </Form>
      )}
      {approvals.user_has_approved && <ActButton action="unapprove">{t.revokeApproval}</ActButton>}
      <span>
        {people.length === 0 ? t.noApprovalsYet : t.approvedByNames(listed(people.map(({ name }) => name)))}
        {required > 0 && (
          <span class="quiet">{left > 0 ? t.approvalsMissing(left, required) : t.allRequiredApprovalsGiven}</span>
        )}
        {approvals.approval_rules_left.length > 0 && (
          <span class="quiet"> ({approvals.approval_rules_left.map(({ name }) => name).join(', ')})</span>
        )}
      </span>
      {people.length > 0 && <Faces of={people} label={t.approvedBy} />}
    </div>
  )
}

const UNDER_WAY = ['created', 'waiting_for_resource', 'preparing', 'pending', 'running', 'scheduled', 'canceling']

function Accept({ one, project, bars, verdict, me }: WithBars) {
  const mayMerge = one.user.can_merge
  if (one.merge_when_pipeline_succeeds)
    return mayMerge || one.author?.id === me?.id ? (
      <p class="merge-line">
        <ActButton action="cancelMerge">{t.cancelAutoMerge}</ActButton>
      </p>
    ) : null
  if (!mayMerge) return null
  const isRunning = UNDER_WAY.includes(one.head_pipeline?.status ?? '')
  const isReady = verdict.mergeable && bars.length === 0
  const mayWait = isRunning && bars.every(({ name }) => name === 'pipeline')
  if (!isReady && !mayWait) return null
  const canSquash = project.squash_option !== 'never'
  const mustSquash = project.squash_option === 'always'
  return (
    <Form action="merge" class="merge-form">
      <input type="hidden" name="sha" value={one.sha ?? ''} />
      <div class="row">
        <Switch
          name="should_remove_source_branch"
          label={t.deleteSourceBranch}
          isOn={one.should_remove_source_branch ?? one.force_remove_source_branch}
        />
        {canSquash && !mustSquash && <Switch name="squash" label={common.squashCommits} isOn={one.squash} />}
        {mustSquash && <span class="quiet">{t.commitsWillBeSquashed}</span>}
      </div>
      <details>
        <summary>{t.editCommitMessage}</summary>
        {project.merge_method !== 'ff' && (
          <Field
            name="merge_commit_message"
            label={t.mergeCommitMessage}
            lines={3}
            hint={t.leaveEmptyForProjectDefault}
          />
        )}
        {canSquash && (
          <Field
            name="squash_commit_message"
            label={t.squashCommitMessage}
            lines={3}
            hint={t.usedOnlyWhenCommitsAreSquashed}
          />
        )}
      </details>
      <p class="row">
        {isReady && (
          <Button kind="main">
            <Icon name="branch" /> {t.merge}
          </Button>
        )}
        {mayWait && (
          <Button name="when" value="pipeline" {...(!isReady && { kind: 'main' as const })}>
            <Icon name="clock" /> {t.autoMergeWhenPipelineSucceeds}
          </Button>
        )}
      </p>
    </Form>
  )
}
