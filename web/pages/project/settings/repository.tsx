/** Protected branches and tags, push rules, deploy keys and tokens of the project. */
import type { Records } from '../../../api.ts'
import { DeployTokens, deployTokenActions } from '../../../components/DeployTokens.tsx'
import { ActButton, Button, Choice, Field, Form, Switch } from '../../../components/Form.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { Time } from '../../../components/Time.tsx'
import { Row, Rows } from '../../../components/lists.tsx'
import { Chapter, Fold, Notice } from '../../../components/settings.tsx'
import { count, flag, flags } from '../../../fields.ts'
import type { InProject } from '../../../layout/project.tsx'
import { projectSettingsFrame } from '../../../layout/settings.tsx'
import { page as declare, text } from '../../../page.ts'
import { rich } from '../../../rich.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/projects.ts'

interface Data {
  branches: Records['ProtectedBranch'][]
  tags: Records['ProtectedTag'][]
  keys: Records['DeployKey'][]
  tokens: Records['DeployToken'][]
  rule: Records['PushRule'] | null
}

const LEVELS = [
  ['40', common.maintainers],
  ['30', t.developersAndMaintainers],
  ['0', common.noOne],
] as const
type Level = 0 | 30 | 40

const RULE_TEXTS = [
  ['commit_message_regex', t.commitMessagesMustMatch],
  ['commit_message_negative_regex', t.commitMessagesMustNotMatch],
  ['branch_name_regex', t.branchNamesMustMatch],
  ['author_email_regex', t.commitAuthorEmailsMustMatch],
  ['file_name_regex', t.fileNamesMustNotMatch],
] as const

const RULE_FLAGS = [
  ['deny_delete_tag', t.doNotAllowUsers],
  ['member_check', t.commitAuthorsMustBeUsers],
  ['prevent_secrets', t.rejectFilesThatAreLikely],
  ['commit_committer_check', t.committerEmailMustBeVerified],
  ['reject_unsigned_commits', t.rejectUnsignedCommits],
] as const

const levelsOf = (levels: readonly Records['ProtectedRefAccess'][]) =>
  levels.map(({ access_level_description: words }) => words.replace(/^Masters$/, 'Maintainers')).join(', ') ||
  common.noOne

export const page = declare<Data, InProject>({
  signedIn: true,
  frame: projectSettingsFrame,
  load({ api, params }) {
    const id = params.id!
    return {
      branches: api.get('/projects/{id}/protected_branches', { id, per_page: 100 }),
      tags: api.get('/projects/{id}/protected_tags', { id, per_page: 100 }),
      keys: api.get('/projects/{id}/deploy_keys', { id, per_page: 100 }),
      tokens: api.get('/projects/{id}/deploy_tokens', { id, active: true, per_page: 100 }),
      rule: api.maybe('/projects/{id}/push_rule', { id }),
    }
  },
  title: () => common.repositorySettings,
  View: ({ branches, tags, keys, tokens, rule }) => (
    <>
      <h1>{common.repositorySettings}</h1>
      <Notice />
      <Chapter title={t.protectedBranches} hint={t.protectedFromDeletionOnlySelected}>
        {branches.length > 0 && (
          <Rows label={t.protectedBranches}>
            {branches.map((branch) => (
              <Row
                key={branch.id}
                lead={<Icon name="lock" />}
                title={<code>{branch.name}</code>}
                facts={t.branchRules(
                  levelsOf(branch.push_access_levels),
                  levelsOf(branch.merge_access_levels),
                  branch.allow_force_push,
                )}
                aside={
                  !branch.inherited && (
                    <ActButton
                      action="unprotectBranch"
                      fields={{ name: branch.name }}
                      kind="danger"
                      confirm={t.unprotectName(branch.name)}
                    >
                      {t.unprotect}
                    </ActButton>
                  )
                }
              />
            ))}
          </Rows>
        )}
        <Fold title={t.protectBranch} action="protectBranch">
          <Form action="protectBranch" resets>
            <Field name="name" label={common.branch} required hint={t.branchNameOrWildcardSuch} />
            <Choice name="merge" label={t.allowedToMerge} options={LEVELS} value="40" />
            <Choice name="push" label={t.allowedToPush} options={LEVELS} value="40" />
            <Switch name="force" label={t.allowForcePush} />
            <Button kind="main">{t.protectBranch}</Button>
          </Form>
        </Fold>
      </Chapter>
      <Chapter title={t.protectedTags} hint={t.onlySelectedRolesCanCreate}>
        {tags.length > 0 && (
          <Rows label={t.protectedTags}>
            {tags.map((tag) => (
              <Row
                key={tag.name}
                lead={<Icon name="tag" />}
                title={<code>{tag.name}</code>}
                facts={t.tagRules(levelsOf(tag.create_access_levels))}
                aside={
                  <ActButton
                    action="unprotectTag"
                    fields={{ name: tag.name }}
                    kind="danger"
                    confirm={t.unprotectName(tag.name)}
                  >
                    {t.unprotect}
                  </ActButton>
                }
              />
            ))}
          </Rows>
        )}
        <Fold title={t.protectTag} action="protectTag">
          <Form action="protectTag" resets>
            <Field name="name" label={common.tag} required hint={t.tagNameOrWildcardSuch} />
            <Choice name="create" label={t.allowedToCreate} options={LEVELS} value="40" />
            <Button kind="main">{t.protectTag}</Button>
          </Form>
        </Fold>
      </Chapter>
      <Chapter title={t.deployKeys} hint={t.sshKeysForServers}>
        {keys.length > 0 && (
          <Rows label={t.deployKeys}>
            {keys.map((key) => (
              <Row
                key={key.id}
                lead={<Icon name="lock" />}
                title={
                  <>
                    {key.title} {key.can_push && <span class="badge">{t.writeAccess}</span>}
                  </>
                }
                facts={
                  <>
                    {rich(t.fingerprintSha256AddedTime, {
                      fingerprintSha256: <code>{key.fingerprint_sha256}</code>,
                      time: <Time at={key.created_at} />,
                    })}
                    {key.last_used_at && rich(t.lastUsedTime, { time: <Time at={key.last_used_at} /> })}
                  </>
                }
                aside={
                  <ActButton
                    action="removeKey"
                    fields={{ key: key.id }}
                    kind="danger"
                    confirm={t.deleteTitle(key.title)}
                  >
                    {' '}
                    {common.deleteLabel}{' '}
                  </ActButton>
                }
              />
            ))}
          </Rows>
        )}
        <Fold title={t.addDeployKey} action="addKey">
          <Form action="addKey" resets>
            <Field name="title" label={common.title} required />
            <Field name="key" label={common.publicKey} lines={3} required />
            <Switch name="can_push" label={t.grantWritePermissions} />
            <Button kind="main">{common.addKey}</Button>
          </Form>
        </Fold>
      </Chapter>
      <DeployTokens tokens={tokens} />
      <Chapter title={t.pushRules} hint={t.rulesEveryPushMustSatisfy}>
        <Form action="rules">
          {RULE_TEXTS.map(([name, label]) => (
            <Field name={name} label={label} value={rule?.[name]} placeholder={t.regularExpression} key={name} />
          ))}
          <Field
            name="max_file_size"
            label={t.maximumFileSizeMb}
            type="number"
            value={rule?.max_file_size ?? 0}
            hint={t.zeroForAny}
          />
          {RULE_FLAGS.map(([name, label]) => (
            <Switch name={name} label={label} isOn={rule?.[name] ?? false} key={name} />
          ))}
          <Button>{t.savePushRules}</Button>
        </Form>
      </Chapter>
    </>
  ),
  actions: {
    async protectBranch({ api, params, form }) {
      await api.post('/projects/{id}/protected_branches', {
        id: params.id!,
        name: text(form, 'name'),
        merge_access_level: count(form, 'merge') as Level,
        push_access_level: count(form, 'push') as Level,
        allow_force_push: flag(form, 'force'),
      })
    },
    async unprotectBranch({ api, params, form }) {
      await api.delete('/projects/{id}/protected_branches/{name}', { id: params.id!, name: text(form, 'name') })
    },
    async protectTag({ api, params, form }) {
      await api.post('/projects/{id}/protected_tags', {
        id: params.id!,
        name: text(form, 'name'),
        create_access_level: count(form, 'create') as Level,
      })
    },
    async unprotectTag({ api, params, form }) {
      await api.delete('/projects/{id}/protected_tags/{name}', { id: params.id!, name: text(form, 'name') })
    },
    async addKey({ api, params, form }) {
      await api.post('/projects/{id}/deploy_keys', {
        id: params.id!,
        title: text(form, 'title'),
        key: text(form, 'key'),
        can_push: flag(form, 'can_push'),
      })
    },
    async removeKey({ api, params, form }) {
      await api.delete('/projects/{id}/deploy_keys/{key_id}', { id: params.id!, key_id: text(form, 'key') })
    },
    ...deployTokenActions('project'),
    async rules({ api, params, form }) {
      const id = params.id!
      const input = {
        id,
        ...Object.fromEntries(RULE_TEXTS.map(([name]) => [name, text(form, name)])),
        ...flags(
          form,
          RULE_FLAGS.map(([name]) => name),
        ),
        max_file_size: count(form, 'max_file_size') ?? 0,
      }
      const isSet = (await api.maybe('/projects/{id}/push_rule', { id })) !== null
      await (isSet ? api.put('/projects/{id}/push_rule', input) : api.post('/projects/{id}/push_rule', input))
      return { flash: { notice: t.pushRulesSaved } }
    },
  },
})
