// The fields of a form made from a schema, and lists and objects of them. A field that may be left out says whether it is: nothing,
// an empty text and null are three different things to a tool.

import { Plus, Trash2 } from "lucide-react";
import { useContext, useId, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button, IconButton } from "./button";
import { placeOf, type Schema, type Shape, shapeOf, startOf } from "./schema";
import { type FieldProps, Form, Label, State, useAbout, useProblem } from "./schema-parts";
import { ChoiceValue, JsonField, NumberValue, TextValue } from "./schema-values";

export const FormContext = Form.Provider;

type Values = Record<string, unknown>;
type ObjectProps = {
  schema: Schema;
  value: unknown;
  onChange: (value: Values) => void;
  place: string;
  className?: string;
};

const isValues = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export function SchemaFields({ schema, value, onChange, place, className = "grid gap-4" }: ObjectProps) {
  const { t } = useTranslation("form");
  const { root } = useContext(Form);
  const values = isValues(value) ? value : {};
  const properties = schema.properties ?? {};
  const set = (name: string, next: unknown) => {
    const { [name]: _, ...others } = values;
    onChange(next === undefined ? others : { ...values, [name]: next });
  };
  const others = Object.keys(values).filter((name) => !(name in properties));
  return (
    <div className={className}>
      {Object.entries(properties).map(([name, given]) => (
        <SchemaField
          key={name}
          name={name}
          shape={shapeOf(given, root)}
          required={schema.required?.includes(name) ?? false}
          value={values[name]}
          onChange={(next) => set(name, next)}
          place={placeOf(place, name)}
        />
      ))}
      {others.length > 0 && <p className="text-sm text-muted">{t("others", { names: others.join(", ") })}</p>}
    </div>
  );
}

function SchemaField(props: FieldProps) {
  // A value that its field can show by now is not taken from under the hands of whoever writes it as JSON.
  const [isHeld, setHeld] = useState(false);
  const isUnfit = props.value !== null && props.value !== undefined && !fits(props.shape, props.value);
  if (isUnfit || isHeld) return <JsonField {...props} onHold={setHeld} />;
  switch (props.shape.kind) {
    case "text":
      return <TextValue {...props} />;
    case "number":
    case "integer":
      return <NumberValue {...props} />;
    case "boolean":
    case "choice":
      return <ChoiceValue {...props} />;
    case "object":
    case "array":
      return <NestedValue {...props} />;
    default:
      return <JsonField {...props} />;
  }
}

/** A value that its field cannot show stays what it is, and is shown as JSON. */
function fits({ kind }: Shape, value: unknown): boolean {
  if (kind === "text") return typeof value === "string";
  if (kind === "number" || kind === "integer") return typeof value === "number" || typeof value === "bigint";
  if (kind === "array") return Array.isArray(value);
  return kind !== "object" || isValues(value);
}

function NestedValue(props: FieldProps) {
  const { name, shape, required, value, onChange, place } = props;
  const id = useId();
  const about = useAbout(shape);
  const problem = useProblem(place);
  const shown = value !== undefined && value !== null;
  return (
    <fieldset aria-describedby={about ? id : undefined} className="rounded-md border p-3">
      <legend className="px-1 text-sm font-medium">
        <Label {...{ name, shape }} />
        {required && (
          <span aria-hidden className="text-danger">
            {" *"}
          </span>
        )}
      </legend>
      <div className="grid gap-3">
        <div className="flex items-start gap-2">
          <p id={id} className="grow text-xs text-muted">
            {about}
          </p>
          <State {...props} />
        </div>
        {problem && <p className="text-sm text-danger">{problem}</p>}
        {shape.kind === "array"
          ? (shown || required) && (
              <Items shape={shape} value={Array.isArray(value) ? value : []} onChange={onChange} place={place} />
            )
          : (shown || required) && (
              <SchemaFields schema={shape.schema} value={value} onChange={onChange} place={place} />
            )}
      </div>
    </fieldset>
  );
}

type ItemsProps = { shape: Shape; value: unknown[]; onChange: (value: unknown[]) => void; place: string };

function Items({ shape, value, onChange, place }: ItemsProps) {
  const { t } = useTranslation("form");
  const { root } = useContext(Form);
  const item = shapeOf(shape.schema.items, root);
  // What is typed into an item goes with it, and stays with the others: their places change.
  const keys = useRef<number[]>([]);
  while (keys.current.length < value.length) keys.current.push(Math.max(0, ...keys.current) + 1);
  keys.current.length = value.length;
  const remove = (at: number) => {
    keys.current.splice(at, 1);
    onChange(value.toSpliced(at, 1));
  };
  return (
    <>
      {value.map((one, at) => (
        <div key={keys.current[at]} className="flex items-start gap-2">
          <div className="min-w-0 grow">
            <SchemaField
              name={String(at + 1)}
              shape={item}
              required
              isItem
              value={one}
              onChange={(next) => onChange(value.with(at, next))}
              place={placeOf(place, at)}
            />
          </div>
          <IconButton small icon={Trash2} label={t("removeItem", { number: at + 1 })} onClick={() => remove(at)} />
        </div>
      ))}
      <div>
        <Button small icon={Plus} onClick={() => onChange([...value, startOf(item)])}>
          {t("addItem")}
        </Button>
      </div>
    </>
  );
}
