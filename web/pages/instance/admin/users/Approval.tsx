/** The decision of an administrator about a new registration. */
import { ActButton } from '../../../../components/Form.tsx'

export const Approval = ({ name, fields = {} }: { name: string; fields?: Record<string, number> }) => (
  <>
    <ActButton action="approve" fields={fields}>
      Approve
    </ActButton>
    <ActButton
      action="reject"
      fields={fields}
      kind="danger"
      confirm={`Reject ${name}? The account is deleted and the user is notified by email.`}
    >
      Reject
    </ActButton>
  </>
)
