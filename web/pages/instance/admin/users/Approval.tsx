/** The decision of an administrator about a new registration. */
import { ActButton } from '../../../../components/Form.tsx'
import * as common from '../../../../texts/common.ts'
import * as t from '../../../../texts/admin.ts'

export const Approval = ({ name, fields = {} }: { name: string; fields?: Record<string, number> }) => (
  <>
    <ActButton action="approve" fields={fields}>
      {common.approve}
    </ActButton>
    <ActButton action="reject" fields={fields} kind="danger" confirm={t.rejectUserNamed(name)}>
      {t.reject}
    </ActButton>
  </>
)
