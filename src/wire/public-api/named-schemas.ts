/** The schemas that have a name in the OpenAPI document: those that several operations share, or that clients keep. */
import type { TSchema } from '../type.ts';
import { CallView } from './call.ts';
import { ConnectorVersionView, ConnectorView } from './connector.ts';
import { DeliveryAnswerView, DeliveryView, SubscriptionView } from './delivery.ts';
import { Grade } from './grade.ts';
import { TestRunDetail, TestRunView } from './run.ts';
import { SessionView } from './session.ts';
import {
  BranchBody,
  LabelBody,
  LabelView,
  MissingView,
  PinBody,
  PushBody,
  PushView,
  RenameBody,
  VersionChanges,
  VersionDetail,
  VersionListView,
  VersionView,
} from './version.ts';
import { CreateWorldBody, WorldDetail, WorldListView } from './world.ts';

export const namedSchemas: Readonly<Record<string, TSchema>> = {
  Branch: BranchBody,
  Call: CallView,
  Connector: ConnectorView,
  ConnectorVersion: ConnectorVersionView,
  Delivery: DeliveryView,
  DeliveryAnswer: DeliveryAnswerView,
  Grade,
  Label: LabelView,
  LabelTarget: LabelBody,
  MissingFiles: MissingView,
  NewWorld: CreateWorldBody,
  Pin: PinBody,
  Push: PushBody,
  PushedVersion: PushView,
  Rename: RenameBody,
  Session: SessionView,
  Subscription: SubscriptionView,
  TestRun: TestRunDetail,
  TestRunEntry: TestRunView,
  Version: VersionDetail,
  VersionChanges,
  VersionEntry: VersionListView,
  VersionSummary: VersionView,
  World: WorldDetail,
  WorldEntry: WorldListView,
};
